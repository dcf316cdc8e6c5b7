"""A serde of the oracle's own: objects of exactly known size, each of which knows who it is.

metadata   16 bytes of room for a seal, 3 bytes with the serial number of the object
data       as many bytes as the content has
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final

from mmcache_ref.model.object_store import METADATA, SEAL

SERIAL: Final = METADATA - SEAL
"""Bytes of the serial number."""


class Unserialisable(Exception):  # noqa: N818 - reads as what the value is
    """What a value raises that cannot be serialised."""


@dataclass(frozen=True)
class Parcel:
    """A value for the serde: its serial number and data.

    `fails`: it raises while it is "serialising" or while it is "copying"; `watcher` is called in the middle
    of the copy.
    """

    serial: int
    data: bytes
    fails: str = ""
    watcher: Callable[[], None] | None = None


class Watched(list[Any]):
    """Parts of data; whoever goes through them tells the watcher, after the first one."""

    def __init__(self, parts: list[bytes], watcher: Callable[[], None]) -> None:
        super().__init__(parts)
        self._watcher = watcher

    def __iter__(self) -> Iterator[Any]:
        first, *others = list.__iter__(self)
        yield first
        self._watcher()
        yield from others


class FixedSerde:
    """Serialises parcels, and gives back serial number and data.

    `hook`, if there is one, is called when a reader has begun to read, or, if `is_late`, when it has copied.
    """

    SEAL_BYTES: ClassVar[int] = SEAL
    hook: ClassVar[Callable[[], None] | None] = None
    is_late: ClassVar[bool] = False

    def serialize(self, value: Parcel) -> tuple[Any, int, bytes, int]:
        """Data, its length, metadata, its length."""
        if value.fails == "serialising":
            raise Unserialisable
        half = len(value.data) // 2
        data: Any = value.data
        if value.fails == "copying":
            data = [value.data[:half], None]
        elif value.watcher is not None:
            data = Watched([value.data[:half], value.data[half:]], value.watcher)
        metadata = bytes(SEAL) + value.serial.to_bytes(SERIAL, "little")
        return data, len(value.data), metadata, METADATA

    def deserialize(self, data: memoryview) -> tuple[int, bytes]:
        """The serial number and the data that lie there."""
        hook, is_late = FixedSerde.hook, FixedSerde.is_late
        if hook is not None and not is_late:
            hook()
        copied = bytes(data)
        if hook is not None and is_late:
            hook()
        return int.from_bytes(copied[SEAL:METADATA], "little"), copied[METADATA:]


@cache
def serde_for(base: type) -> type:
    """The serde as a subclass of the target's `ObjectSerde`."""
    return type("FixedSerde", (FixedSerde, base), {})
