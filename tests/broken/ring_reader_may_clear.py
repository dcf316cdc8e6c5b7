"""A reader may clear.   [RB-28]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-28",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def clear(self) -> None:
        if self.is_writer:
            super().clear()


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
