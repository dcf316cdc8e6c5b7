"""The features of a request are updated last first.   [IF-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-14",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            self.touch_receiver_cache_item(str(feature.mm_hash or feature.identifier))
        super().get_and_update_features(mm_features[::-1])
        return mm_features


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
