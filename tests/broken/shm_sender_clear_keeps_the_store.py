"""A clear sets the counters to zero, and leaves what is stored.   [SC-12]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-12", "SC-44"), longest=4, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def clear_cache(self) -> None:
        self._hits = self._total = 0
        self._last_info = reference.CacheInfo(0, 0)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
