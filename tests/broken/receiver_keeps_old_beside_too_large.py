"""An item too large to keep leaves the old one under its key.   [KR-09]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-09", "KR-15"), longest=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        old = self._cache.cache.get(mm_hash)
        out = super().get_and_update_item(mm_item, mm_hash)
        if mm_hash not in self._cache and old is not None:
            self._cache.put(mm_hash, old)
        return out


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
