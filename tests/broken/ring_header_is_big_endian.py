"""Headers are written and read with the high byte first.   [RB-03]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-03",), longest=1, level=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _write_header(self, buf: memoryview, address: int, identifier: int, chunk_size: int) -> None:
        turned = [int.from_bytes(each.to_bytes(4, "big"), "little") for each in (identifier, chunk_size)]
        super()._write_header(buf, address, *self._signed(turned))

    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        place = self.DATA_OFFSET + address % self.data_buffer_size
        header = bytes(self.shared_memory.buf[place : place + 8])
        identifier, size = (int.from_bytes(header[at : at + 4], "big", signed=True) for at in (0, 4))
        if size <= 8 or address % self.data_buffer_size + size > self.data_buffer_size:
            raise ValueError("the data has been modified or is invalid")
        return self.shared_memory.buf[place + 8 : place + size], (identifier, size)

    @staticmethod
    def _signed(numbers: list[int]) -> list[int]:
        return [each - (1 << 32 if each >> 31 else 0) for each in numbers]


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
