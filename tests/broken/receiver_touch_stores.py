"""A touch with an item stores it.   [KR-12]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-12",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
        if mm_item is not None and mm_hash not in self._cache:
            self.cache_if_fits(self._cache, mm_hash, mm_item)
        super().touch_receiver_cache_item(mm_hash)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
