"""The key of a feature is its identifier, also when it has an `mm_hash`.   [IF-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks(
    "shm-pair",
    (
        "IF-14",
        "SC-22",
    ),
    longest=2,
)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            feature.mm_hash = None
        return super().get_and_update_features(mm_features)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
