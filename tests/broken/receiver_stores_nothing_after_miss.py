"""After a miss what the request brings is served, but not stored.   [IF-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-15", "IF-16"), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    _is_ingesting = _has_missed = False

    def get_and_update_features(self, mm_features: Any) -> Any:
        self._is_ingesting = True
        try:
            return super().get_and_update_features(mm_features)
        finally:
            self._is_ingesting = self._has_missed = False

    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        if self._has_missed and mm_item is not None:
            return mm_item
        try:
            return super().get_and_update_item(mm_item, mm_hash)
        except reference.MultiModalCacheMissError:
            self._has_missed = self._is_ingesting
            raise


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
