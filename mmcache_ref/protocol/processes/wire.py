"""Values on a socket between two processes of one deployment: a mark, a length, and a pickle."""

from __future__ import annotations

import ctypes
import io
import pickle
import socket
import struct
import sys
import time
from typing import Any, Final

_HEAD: Final = struct.Struct(">4sQ")
_MARK: Final = b"mmc\x01"
_SHORT: Final = 1 << 16
LARGEST: Final = 1 << 40
"""Bytes; a length beyond it is rubbish."""


class Rubbish(Exception):  # noqa: N818 - reads as what came
    """What came is no value of this wire."""


class Silence(Exception):  # noqa: N818 - reads as what came
    """Nothing more came, or went, within the time that there was."""


class Ended(Exception):  # noqa: N818 - reads as what happened
    """The other end is closed."""


class _Pickler(pickle.Pickler):
    """Tensors as their bytes: the pickle of torch takes half a millisecond for each, and its way through
    `multiprocessing` sends open files."""

    def reducer_override(self, value: Any) -> Any:
        """As `pickle` asks for it."""
        torch = sys.modules.get("torch")
        if torch is None or type(value) is not torch.Tensor:
            return NotImplemented
        flat = value.detach().contiguous().reshape(-1)
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        return _tensor, (data, str(value.dtype).partition(".")[2], tuple(value.shape))


def _tensor(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """The tensor in memory of its own, which a cache can keep as it is: no view of other memory."""
    import torch

    tensor = torch.empty(shape, dtype=getattr(torch, dtype))
    ctypes.memmove(tensor.data_ptr(), data, len(data))
    return tensor


def packed(value: Any) -> bytes:
    """A value as bytes."""
    room = io.BytesIO()
    _Pickler(room, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return room.getvalue()


def unpacked(data: bytes | bytearray) -> Any:
    """The value of these bytes."""
    return pickle.loads(data)


def head_of(data: bytes) -> bytes:
    """What goes before a value that was packed."""
    return _HEAD.pack(_MARK, len(data))


def send(pipe: socket.socket, data: bytes, seconds: float | None = None) -> None:
    """Send a value that was packed.

    Raises `Silence` when the other end does not take it in time, `Ended` when there is none.
    """
    head = head_of(data)
    try:
        pipe.settimeout(seconds)
        if len(data) <= _SHORT:
            pipe.sendall(head + data)
        else:  # it is not copied once more
            pipe.sendall(head)
            pipe.sendall(data)
    except TimeoutError:
        raise Silence from None
    except OSError:
        raise Ended from None


def receive(pipe: socket.socket, seconds: float | None = None) -> Any:
    """The next value.

    Raises `Silence` when it has not come in time, `Ended` when the other end was closed, between values or in
    the middle of one, and `Rubbish` for anything else that is no value.
    """
    until = None if seconds is None else time.monotonic() + seconds
    mark, length = _HEAD.unpack(_exactly(pipe, _HEAD.size, until))
    if mark != _MARK or length > LARGEST:
        raise Rubbish("what came is no message of this protocol")
    data = _exactly(pipe, length, until)
    try:
        return unpacked(data)
    except Exception as error:
        raise Rubbish(f"a message that cannot be read: {type(error).__name__}: {error}") from error


def _exactly(pipe: socket.socket, length: int, until: float | None) -> bytearray:
    data = bytearray(length)
    rest = memoryview(data)
    while rest:
        try:
            pipe.settimeout(None if until is None else max(0.001, until - time.monotonic()))
            count = pipe.recv_into(rest)
        except TimeoutError:
            raise Silence from None
        except OSError:
            raise Ended from None
        if not count:
            raise Ended
        rest = rest[count:]
    return data
