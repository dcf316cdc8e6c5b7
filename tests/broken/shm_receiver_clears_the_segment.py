"""A worker that hears of a clear clears what is not its own.   [SC-24]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-12", "SC-44"), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def clear_cache(self) -> None:
        self._shm_cache.clear()


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
