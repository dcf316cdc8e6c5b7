"""A hit claims that the workers have the item, as the LRU pair does.   [SC-03]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-28",), longest=4)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        is_cached = self.is_cached_item(mm_hash)
        handle, updates = super().get_and_update_item(mm_item, mm_hash)
        return (None if is_cached else handle), updates


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
