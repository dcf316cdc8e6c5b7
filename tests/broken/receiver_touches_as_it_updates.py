"""Each key is touched just before its own update.   [IF-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-13",), longest=3, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
        if not self._is_ingesting:
            super().touch_receiver_cache_item(mm_hash, mm_item)

    def get_and_update_features(self, mm_features: Any) -> Any:
        self._is_ingesting = True
        try:
            return super().get_and_update_features(mm_features)
        finally:
            self._is_ingesting = False

    _is_ingesting = False


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
