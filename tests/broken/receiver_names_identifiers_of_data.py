"""Data is cached under its identifier, also where the feature has a hash.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, for_now, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IT-10",), longest=1, level=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        hashes = [each.mm_hash if each.data is None else each.identifier for each in mm_features]
        with for_now(mm_features, "mm_hash", hashes):
            return super().get_and_update_features(mm_features)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
