"""A worker verifies each handle when it reads it.   [SC-21]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-21",), longest=2, level=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            if feature.data is not None:
                feature.data = self.get_and_update_item(feature.data, feature.mm_hash or feature.identifier)
        return mm_features


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
