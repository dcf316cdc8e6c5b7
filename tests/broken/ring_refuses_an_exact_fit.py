"""A chunk that would fill the area to its last byte is refused.   [RB-06]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-06",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        if size > 0 and size + self.MD_SIZE == self.data_buffer_size - self.data_buffer_end:
            raise MemoryError
        return super().allocate_buf(size)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
