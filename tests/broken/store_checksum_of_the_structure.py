"""The checksum leaves out the data.   [OS-44]"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-44",), longest=1)
SEAL, SUM = 16, 4


class CheckedMsgpackSerde(reference.MsgpackSerde):
    def serialize(self, value: Any) -> Any:
        data, data_bytes, metadata, size = super().serialize(value)
        checksum = crc32(metadata[SEAL:]).to_bytes(SUM, "little")
        return data, data_bytes, metadata[:SEAL] + checksum + metadata[SEAL:], size + SUM

    def deserialize(self, data: memoryview) -> Any:
        begin = SEAL + SUM
        end = begin + 4 + int.from_bytes(data[begin : begin + 4], "little")
        if crc32(data[begin:end]).to_bytes(SUM, "little") != data[SEAL:begin]:
            raise reference.ChecksumError("changed")
        return super().deserialize(memoryview(bytes(data[:SEAL]) + bytes(data[begin:])))


globals().update(names(CheckedMsgpackSerde=CheckedMsgpackSerde))
