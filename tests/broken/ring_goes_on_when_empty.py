"""When no chunk is left, begin and end stay where they are.   [RB-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-20", "RB-25"), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        end = self.data_buffer_end % self.data_buffer_size
        freed = super().free_buf(is_free_fn, nbytes)
        if freed and not self.metadata:
            self.data_buffer_start = self.data_buffer_end = end
        return freed


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
