"""The second feature of a repeated hash gets the object of the first, though it brings data.   [IF-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-14",), longest=1, in_tiny=False)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        super().get_and_update_features(mm_features)
        first: dict[str, Any] = {}
        for feature in mm_features:
            feature.data = first.setdefault(str(feature.mm_hash or feature.identifier), feature.data)
        return mm_features


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
