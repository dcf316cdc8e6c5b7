"""What fits nowhere evicts what can be reclaimed.   [SC-37]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-37",), longest=4, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _report_refusal(self, refusal: Exception) -> None:
        self._shm_cache.free_unused()


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
