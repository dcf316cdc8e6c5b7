"""The check looks a key up as an update does.   [SC-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-07",), longest=2, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def is_cached_item(self, mm_hash: str) -> bool:
        is_stored = super().is_cached_item(mm_hash)
        if is_stored:
            self._shm_cache.get_cached(mm_hash)
        return is_stored


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
