"""How an object becomes bytes in a chunk, and comes back."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final
from zlib import crc32

import msgspec

from .structure_plans import PlannedReader
from .structure_reader import ItemClasses
from .structures import Buffer, SerdeError, written

__all__ = ["CheckedMsgpackSerde", "ChecksumError", "ItemClasses", "MsgpackSerde", "ObjectSerde", "SerdeError"]

_LENGTH: Final = struct.Struct("<I")
"""The length of the structure in bytes."""
_LENGTH_BYTES: Final = _LENGTH.size

_CHECKSUM: Final = struct.Struct("<I")
"""CRC-32 of the length, the structure and the data."""

_encode: Final = msgspec.msgpack.Encoder().encode

_UNWRITABLE: Final = (ValueError, TypeError, AttributeError, RuntimeError)
"""What PyTorch, msgspec and Python raise for tensors without bytes, text without UTF-8, endless lists."""

_UNREADABLE: Final = (
    ValueError,
    TypeError,
    OverflowError,
    AttributeError,
    RuntimeError,
    MemoryError,
    struct.error,
)
"""What NumPy, PyTorch, msgspec and Python raise for values that make no sense to them."""


class ObjectSerde(ABC):
    """Turns a value into metadata and data, and the two, one behind the other, into an equal value."""

    @abstractmethod
    def serialize(self, value: Any) -> tuple[Any, int, bytes, int]:
        """The data (bytes, or a list of byte buffers), its length, the metadata, its length."""

    @abstractmethod
    def deserialize(self, data: memoryview) -> Any:
        """The value whose metadata and data are `data`; it shares no memory with it."""


class MsgpackSerde(ObjectSerde):
    """Plain data as msgpack, tensors and arrays by dtype, shape and raw bytes; never a pickle.   [OS-24]

    The metadata begins with `SEAL_BYTES` bytes of room, which the store fills. `item_classes` are the classes
    that items are made of: override it in a subclass to read the items of another package.
    """

    SEAL_BYTES: ClassVar[int] = 16
    item_classes: ClassVar[ItemClasses] = ItemClasses()

    def __init__(self) -> None:
        self._reader = PlannedReader(self.item_classes)
        self._room = bytes(self.SEAL_BYTES)

    def serialize(self, value: Any) -> tuple[list[Buffer], int, bytes, int]:
        """The bytes of the leaves, as views where they are contiguous, and the structure.   [OS-38]

        Raises `SerdeError` for a value that cannot be written.
        """
        leaves: list[Buffer] = []
        try:
            structure = _encode(written(value, leaves))
        except SerdeError:
            raise
        except _UNWRITABLE as error:
            raise SerdeError(f"cannot write this value: {error}") from error
        metadata = self._room + _LENGTH.pack(len(structure)) + structure
        data_bytes = len(leaves[0]) if len(leaves) == 1 else sum(map(len, leaves))
        return leaves, data_bytes, metadata, len(metadata)

    def deserialize(self, data: memoryview) -> Any:
        """The value that was written, with memory of its own.   [OS-24, OS-38]

        Raises `SerdeError` for bytes that `serialize` does not make.
        """
        begin = self.SEAL_BYTES + _LENGTH_BYTES
        try:
            (length,) = _LENGTH.unpack_from(data, begin - _LENGTH_BYTES)
            end = begin + length
            if end > len(data):
                raise SerdeError(f"a structure of {length} bytes, and {len(data) - begin} are there")
            return self._reader.read(data[begin:end].tobytes(), data[end:])
        except SerdeError:
            raise
        except _UNREADABLE as error:
            raise SerdeError(f"not the bytes of an object: {error}") from error


class ChecksumError(SerdeError):
    """Bytes of an object that are not those which were written."""


class CheckedMsgpackSerde(MsgpackSerde):
    """As `MsgpackSerde`, with a checksum: changed bytes are an error, not another object.   [OS-44]

    It costs a pass over the bytes when they are written, and another pass and a copy when they are read.
    """

    def serialize(self, value: Any) -> tuple[list[Buffer], int, bytes, int]:
        """As `MsgpackSerde`, with the checksum of all that it makes.   [OS-44]"""
        leaves, data_bytes, metadata, _ = super().serialize(value)
        checksum = crc32(metadata[self.SEAL_BYTES :])
        for leaf in leaves:
            checksum = crc32(leaf, checksum)
        room = self.SEAL_BYTES
        metadata = metadata[:room] + _CHECKSUM.pack(checksum) + metadata[room:]
        return leaves, data_bytes, metadata, len(metadata)

    def deserialize(self, data: memoryview) -> Any:
        """The value that was written; `ChecksumError` for other bytes.   [OS-44]

        What is checked is a copy, and the value is made of that: the segment may change meanwhile.
        """
        copied = memoryview(bytes(data))
        checked = copied[self.SEAL_BYTES + _CHECKSUM.size :]
        stored = copied[self.SEAL_BYTES : self.SEAL_BYTES + _CHECKSUM.size]
        if stored != _CHECKSUM.pack(crc32(checked)):
            raise ChecksumError("the bytes of this object have changed since it was stored: clear the store")
        return super().deserialize(copied[_CHECKSUM.size :])
