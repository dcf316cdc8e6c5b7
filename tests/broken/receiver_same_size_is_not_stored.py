"""Data as large as what is cached is returned, and not stored.   [KR-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-08",), longest=2, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        if mm_item is not None and mm_hash in self._cache:
            sizes = map(reference.MultiModalCache.get_item_size, (mm_item, self._cache.cache[mm_hash]))
            if len(set(sizes)) == 1:
                self._cache.touch(mm_hash)
                return mm_item
        return super().get_and_update_item(mm_item, mm_hash)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
