"""Asked to free no bytes, it frees one chunk.   [RB-17]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-17",), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        return super().free_buf(is_free_fn, nbytes if nbytes is None else max(1, nbytes))


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
