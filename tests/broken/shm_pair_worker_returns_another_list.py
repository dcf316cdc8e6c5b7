"""A worker returns the features in a list of its own.   [IF-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IF-14",), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        return list(super().get_and_update_features(mm_features))


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
