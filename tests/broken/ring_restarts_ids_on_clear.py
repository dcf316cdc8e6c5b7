"""Clearing begins again with id 0.   [RB-21]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-21",), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def clear(self) -> None:
        super().clear()
        self.monotonic_id_start = self.monotonic_id_end = 0


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
