"""An id is given again although its chunk is live.   [RB-11]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-11",), longest=5)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _has_free_id(self) -> bool:
        return True


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
