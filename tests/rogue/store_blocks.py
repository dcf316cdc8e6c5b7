"""A store whose lookups wait for a lock that is never released."""

from __future__ import annotations

import threading

from mmcache_ref import reference
from mmcache_ref.reference import *  # noqa: F403

LOCK = threading.Lock()
LOCK.acquire()


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get_cached(self, key: str) -> tuple[int, int]:
        with LOCK:
            return super().get_cached(key)
