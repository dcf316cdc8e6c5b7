"""Asked for more bytes than all chunks have, it goes on when none is left.   [IF-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("IF-20",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        before, wanted = dict(self._sizes), self.data_buffer_size if nbytes is None else nbytes
        freed = super().free_buf(is_free_fn, nbytes)
        while not self.metadata and sum(before[each] for each in freed) < wanted:
            freed += super().free_buf(is_free_fn, nbytes)
        return freed


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
