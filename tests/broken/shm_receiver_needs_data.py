"""A feature without data is no feature.   [SC-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-18",), longest=3)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: list[Any]) -> list[Any]:
        assert all(feature.data is not None for feature in mm_features)
        return super().get_and_update_features(mm_features)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
