"""An address of another lap is none.   [RB-14]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-14",), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        if address >= self.data_buffer_size:
            raise ValueError("the data has been modified or is invalid")
        return super().payload_at(address)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
