"""Closing leaves the name of the segment.   [RB-30]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-30",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def close(self) -> None:
        self.is_closed_in_name_only = True


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
