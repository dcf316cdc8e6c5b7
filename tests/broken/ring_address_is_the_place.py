"""The address is where the chunk lies in the area, whatever the lap.   [RB-05]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-05",), longest=4)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        address, identifier = super().allocate_buf(size)
        return address % self.data_buffer_size, identifier


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
