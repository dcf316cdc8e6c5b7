"""A chunk that was not free when it was asked about is marked in its header.   [RB-29]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-29",), longest=2, level=3)
MARK = 0x40


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        freed = super().free_buf(is_free_fn, nbytes)
        for address in self.metadata.values():
            last = self.DATA_OFFSET + address % self.data_buffer_size + self.MD_SIZE - 1
            self.shared_memory.buf[last] |= MARK
        return freed


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
