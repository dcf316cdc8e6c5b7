"""The serde of interleaved stores: an object is written and read in more than one step."""

from __future__ import annotations

from functools import cache
from typing import Any

from mmcache_ref.model.object_store import METADATA, SEAL
from mmcache_ref.oracle.adapters.fixed_serde import SERIAL, Parcel


class SteppedSerde:
    """As `FixedSerde`; what is written comes in two halves, and is read in three parts."""

    SEAL_BYTES = SEAL

    def serialize(self, value: Parcel) -> tuple[Any, int, bytes, int]:
        """Data, its length, metadata, its length."""
        half = (len(value.data) + 1) // 2
        second: Any = None if value.fails == "copying" else value.data[half:]
        metadata = bytes(SEAL) + value.serial.to_bytes(SERIAL, "little")
        return [value.data[:half], second], len(value.data), metadata, METADATA

    def deserialize(self, data: memoryview) -> tuple[int, bytes]:
        """The serial number and the data that lie there."""
        serial = int.from_bytes(data[SEAL:METADATA], "little")
        half = METADATA + (len(data) - METADATA + 1) // 2
        first = bytes(data[METADATA:half])
        second = bytes(data[half:])
        return serial, first + second


@cache
def stepped_serde_for(base: type) -> type:
    """The serde as a subclass of the target's `ObjectSerde`."""
    return type("SteppedSerde", (SteppedSerde, base), {})
