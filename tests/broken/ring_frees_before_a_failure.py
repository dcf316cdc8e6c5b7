"""What was free before a question failed is gone, and nobody knows.   [RB-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-19",), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        gone: list[int] = []

        def is_free(identifier: int, payload: memoryview) -> bool:
            answer = bool(is_free_fn(identifier, payload))
            gone.extend([identifier] if answer else [])
            return answer

        try:
            return super().free_buf(is_free, nbytes)
        except Exception:
            self._forget(gone)
            raise


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
