"""What a request pushes out itself is gone for it.   [KR-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-14",), longest=3)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        return reference.BaseMultiModalReceiverCache.get_and_update_features(self, mm_features)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
