"""Data is cached under its identifier, also where the feature has a hash.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IT-10",), longest=1, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        hashes = [feature.mm_hash for feature in mm_features]
        for feature in mm_features:
            if feature.data is not None:
                feature.mm_hash = feature.identifier
        try:
            return super().get_and_update_features(mm_features)
        finally:
            for feature, mm_hash in zip(mm_features, hashes, strict=True):
                feature.mm_hash = mm_hash


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
