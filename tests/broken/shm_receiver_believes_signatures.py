"""A worker signs a client's handle itself.   [SC-22]"""

from __future__ import annotations

import contextlib
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import key_digest, sign

BREAKS = Breaks("shm-caches", ("SC-22",), longest=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_features(self, mm_features: list[Any]) -> list[Any]:
        for feature in mm_features:
            with contextlib.suppress(Exception):
                place = [feature.data[name].data for name in ("address", "monotonic_id")]
                secret = self._shm_cache._current_secret()
                feature.data["signature"].data = list(sign(secret, key_digest(feature.mm_hash), *place))
        return super().get_and_update_features(mm_features)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
