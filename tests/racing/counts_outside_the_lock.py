"""A reader compares under the lock, and counts when it has given it back.   [OS-32]"""

from __future__ import annotations

from mmcache_ref.reference import *  # noqa: F403
from mmcache_ref.reference import SingleWriterShmObjectStorage as Right


class SingleWriterShmObjectStorage(Right):
    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        assert self._reader_lock is not None
        with self._reader_lock:
            is_there = self._size_in_place(begin, monotonic_id, signature) is not None
        if is_there:
            self.increment_reader_flag(self._memory[begin + 8 :])
        return is_there
