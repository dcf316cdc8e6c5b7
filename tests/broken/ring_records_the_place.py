"""Chunks are recorded where they lie, not by the address that was handed out.   [RB-13]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-13",), longest=4, level=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        address, identifier = super().allocate_buf(size)
        self.metadata[identifier] = address % self.data_buffer_size
        return address, identifier


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
