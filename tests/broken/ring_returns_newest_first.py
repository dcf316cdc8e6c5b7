"""The ids of what was freed come back newest first.   [RB-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-18",), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        return super().free_buf(is_free_fn, nbytes)[::-1]


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
