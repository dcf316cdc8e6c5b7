"""A hash that is missing twice is reported once.   [IF-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-16",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        try:
            return super().get_and_update_features(mm_features)
        except reference.MultiModalCacheMissError as error:
            raise reference.MultiModalCacheMissError(list(dict.fromkeys(error.mm_hashes))) from None


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
