"""The key of a feature is its identifier, also when it has an `mm_hash`.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IT-10",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            feature.mm_hash = None
        return super().get_and_update_features(mm_features)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
