"""A worker's clear is one of its store, which only the writer may.   [SC-24]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-24",), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def clear_cache(self) -> None:
        self._shm_cache.clear()


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
