"""An allocation of no bytes is granted.   [RB-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-08",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        return super().allocate_buf(1 if size == 0 else size)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
