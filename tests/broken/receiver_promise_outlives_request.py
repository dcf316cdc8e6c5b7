"""What a request was promised outlives it.   [KR-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-15",), longest=3)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            self._promises.hold(self._cache, feature.mm_hash or feature.identifier)
        return reference.BaseMultiModalReceiverCache.get_and_update_features(self, mm_features)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
