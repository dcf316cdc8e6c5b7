"""What is free behind a chunk that is not is freed, too.   [RB-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-16", "RB-24", "RB-18"), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        held = set[int]()

        def is_free(identifier: int, payload: memoryview) -> bool:
            if not is_free_fn(identifier, payload):
                held.add(identifier)
            return True

        freed = [each for each in self._asked(is_free, nbytes) if each not in held]
        self._forget(freed)
        return freed

    def _asked(self, is_free: Any, nbytes: int | None) -> list[int]:
        limit = self.data_buffer_size if nbytes is None else nbytes
        return self._free_prefix(self._writable("free"), is_free, limit)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
