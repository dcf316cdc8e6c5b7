"""A hit hands out a handle without a reference.   [SC-03]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-03",), longest=4, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        entry = self._shm_cache.key_index.get(mm_hash)
        result = super().get_and_update_item(mm_item, mm_hash)
        if entry is not None:
            self._shm_cache.writer_flag[entry[1]] -= 1
        return result


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
