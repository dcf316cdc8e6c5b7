"""Nothing is freed unless everything is free.   [RB-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-16", "RB-17"), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _free_prefix(self, *args: Any) -> list[int]:
        free = super()._free_prefix(*args)
        return free if len(free) == len(self.metadata) else []


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
