"""An allocation may take nine bytes of the oldest chunk.   [RB-06]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-06",), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        begin = self.data_buffer_start
        self.data_buffer_start += 9
        try:
            return super().allocate_buf(size)
        finally:
            self.data_buffer_start = begin


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
