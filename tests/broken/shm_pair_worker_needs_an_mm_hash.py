"""The key of a feature is its `mm_hash`, also when there is none.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IT-10",), longest=3)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            feature.mm_hash = str(feature.mm_hash)
        return super().get_and_update_features(mm_features)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
