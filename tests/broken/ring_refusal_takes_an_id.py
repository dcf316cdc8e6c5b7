"""An allocation that is refused takes an id all the same.   [RB-06, RB-10]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-06", "RB-10"), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def allocate_buf(self, size: int) -> tuple[int, int]:
        try:
            return super().allocate_buf(size)
        except MemoryError:
            self.monotonic_id_end = (self.monotonic_id_end + 1) % self.ID_MAX
            raise


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
