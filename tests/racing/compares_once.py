"""A reader compares before the copy, and not behind it.   [OS-23, OS-41]"""

from __future__ import annotations

from mmcache_ref.reference import *  # noqa: F403
from mmcache_ref.reference import SingleWriterShmObjectStorage as Right


class SingleWriterShmObjectStorage(Right):
    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        assert self._reader_lock is not None
        with self._reader_lock:
            self.increment_reader_flag(self._memory[begin + 8 :])
        return True
