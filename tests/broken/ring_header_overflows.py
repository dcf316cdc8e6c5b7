"""A size that has no four bytes is found when it is written, by another error.   [RB-09]"""

from __future__ import annotations

from broken import Breaks, for_now, names
from mmcache_ref import reference
from mmcache_ref.reference import ring_placement

BREAKS = Breaks("ring-buffer", ("RB-09",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        with for_now([ring_placement], "LARGEST_CHUNK", [2**40]):
            return super().allocate_buf(size)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
