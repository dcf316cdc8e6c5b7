"""A hit brings the prompt updates that were recorded last, whatever the key.   [SC-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-10",), longest=4)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        handle, _ = super().get_and_update_item(mm_item, mm_hash)
        updates = list(self._p0_cache.values())[-1] if "address" in handle else mm_item[1]
        return handle, updates


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
