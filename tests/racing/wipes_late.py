"""A writer wipes the seals when it has given the lock back.   [OS-23]"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mmcache_ref.reference import *  # noqa: F403
from mmcache_ref.reference import SingleWriterShmObjectStorage as Right


class SingleWriterShmObjectStorage(Right):
    @contextmanager
    def _no_reader_counts(self) -> Iterator[None]:
        assert self._reader_lock is not None
        with self._reader_lock:
            pass
        yield
