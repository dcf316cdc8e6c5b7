"""A worker verifies the first handle of a request before it reads them.   [SC-21]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-21",), longest=2, level=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for place, feature in enumerate(mm_features):
            key = feature.mm_hash or feature.identifier
            if feature.data is not None and place == 0:
                self.touch_receiver_cache_item(key, feature.data)
        for feature in mm_features:
            if feature.data is not None:
                feature.data = self.get_and_update_item(feature.data, feature.mm_hash or feature.identifier)
        return mm_features


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
