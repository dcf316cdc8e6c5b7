"""Begin and end are not brought back when begin has reached the capacity.   [RB-20]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-20",), longest=5)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _forget(self, freed: list[int]) -> None:
        super()._forget(freed)
        if freed and self.metadata:
            lap = next(iter(self.metadata.values())) - self.data_buffer_start
            self.data_buffer_start += lap
            self.data_buffer_end += lap


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
