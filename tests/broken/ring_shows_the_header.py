"""`is_free` is shown the header and the payload.   [RB-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-16", "RB-25"), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        def is_free(identifier: int, payload: memoryview) -> bool:
            begin = self.DATA_OFFSET + self.metadata[identifier] % self.data_buffer_size
            with self.shared_memory.buf[begin : begin + self._sizes[identifier]] as chunk:
                return bool(is_free_fn(identifier, chunk))

        return super().free_buf(is_free, nbytes)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
