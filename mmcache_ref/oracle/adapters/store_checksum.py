"""A store under the serde with a checksum, whose objects somebody writes over."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from mmcache_ref.model.object_store import HEADER, READER_COUNT, SEAL
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters import store_calls as calls
from mmcache_ref.oracle.adapters.base import Unexpected, need
from mmcache_ref.oracle.adapters.forgeries import Shown

CAPACITY: Final = 1024
VALUE: Final = ["text", [1, 2], b"data that stand behind the metadata"]
FLIPPED: Final = 0x10


def spoiled(namespace: Any, lock: Any) -> Any:
    """True, if no byte of what the serde wrote can be changed without `ChecksumError`, which counts nothing.

    Behind the seal everything is the serde's.
    """
    need(namespace, "CheckedMsgpackSerde")
    name, make = segments.fresh_name(), namespace.SingleWriterShmObjectStorage
    serde = namespace.CheckedMsgpackSerde
    with contextlib.ExitStack() as closings:
        closings.callback(segments.remove, name)
        ring = namespace.SingleWriterShmRingBuffer(CAPACITY, name, True)
        store = make(CAPACITY, 1, ring, serde_class=serde, reader_lock=None)
        closings.callback(calls.close, store)
        attached = namespace.SingleWriterShmRingBuffer(*ring.handle())
        reader = make(CAPACITY, 1, attached, serde_class=serde, reader_lock=lock)
        closings.callback(calls.close, reader)
        address, identifier = store.put("x", VALUE)
        shown = Shown(address, identifier, store.get_signature("x"), "x")
        chunk = ring.DATA_OFFSET + address
        size = int.from_bytes(segments.content(name)[chunk + HEADER // 2 : chunk + HEADER], "little")
        counted = slice(chunk + HEADER, chunk + HEADER + READER_COUNT)
        for place in range(counted.stop + SEAL, chunk + size):
            byte = segments.content(name)[place]
            segments.write(name, place, bytes([byte ^ FLIPPED]))
            told = _told(reader, shown)
            segments.write(name, place, bytes([byte]))
            if told != "ChecksumError":
                return Unexpected(f"{told}, where byte {place - chunk} of {size} was changed")
            if any(segments.content(name)[counted]):
                return Unexpected("an object that could not be read was counted")
        return calls.get(reader, shown) == VALUE or Unexpected("another object than was put")


def _told(reader: Any, shown: Shown) -> str:
    """The error of a `get`, if it is one of the serde's; otherwise in words what came."""
    try:
        given = calls.get(reader, shown)
    except Exception as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        return type(error).__name__ if "SerdeError" in kinds else f"{type(error).__name__}: {error}"
    return f"no error but {given!r:.60}"
