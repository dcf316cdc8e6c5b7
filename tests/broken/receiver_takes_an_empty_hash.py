"""A hash without a letter counts as one.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IT-10",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        identifiers = [feature.identifier for feature in mm_features]
        for feature in mm_features:
            feature.identifier = feature.identifier if feature.mm_hash is None else feature.mm_hash
        try:
            return super().get_and_update_features(mm_features)
        finally:
            for feature, identifier in zip(mm_features, identifiers, strict=True):
                feature.identifier = identifier


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
