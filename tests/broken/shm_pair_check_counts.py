"""The check of a stored key is counted as a lookup.   [SC-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-07",), longest=1, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def is_cached_item(self, mm_hash: str) -> bool:
        self._total += 1
        return super().is_cached_item(mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
