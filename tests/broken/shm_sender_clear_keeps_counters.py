"""A clear leaves hits and lookups.   [SC-12, SC-13]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-12", "SC-44", "SC-13"), longest=2, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def clear_cache(self) -> None:
        hits, total = self._hits, self._total
        super().clear_cache()
        self._hits, self._total = hits, total


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
