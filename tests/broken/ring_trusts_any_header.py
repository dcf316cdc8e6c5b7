"""Whatever lies at an address is taken for the header of a chunk.   [RB-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-15",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        place = self.DATA_OFFSET + address % self.data_buffer_size
        header = bytes(self.shared_memory.buf[place : place + 8])
        identifier, size = (int.from_bytes(header[at : at + 4], "little", signed=True) for at in (0, 4))
        return self.shared_memory.buf[place + 8 : place + max(8, size)], (identifier, size)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
