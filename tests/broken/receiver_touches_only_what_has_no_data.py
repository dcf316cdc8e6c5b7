"""A feature that brings data is not touched before the updates.   [IF-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-13",), longest=2, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    _with_data: frozenset[str] = frozenset()

    def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
        if mm_hash not in self._with_data:
            super().touch_receiver_cache_item(mm_hash, mm_item)

    def get_and_update_features(self, mm_features: Any) -> Any:
        self._with_data = frozenset(str(each.mm_hash) for each in mm_features if each.data is not None)
        try:
            return super().get_and_update_features(mm_features)
        finally:
            self._with_data = frozenset()


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
