"""Ids grow for ever.   [RB-10]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-10",), longest=4)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        address, identifier = super().allocate_buf(size)
        self.monotonic_id_end = identifier + 1
        return address, identifier


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
