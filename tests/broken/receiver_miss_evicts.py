"""A miss evicts the least recent entry.   [KR-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-11",), longest=2, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        try:
            return super().get_and_update_item(mm_item, mm_hash)
        except reference.MultiModalCacheMissError:
            self._cache.remove_oldest()
            raise


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
