"""The list that comes back is the same, and its features are copies.   [IF-14]"""

from __future__ import annotations

import dataclasses
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-14",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        copies = [dataclasses.replace(each) for each in mm_features]
        mm_features[:] = super().get_and_update_features(copies)
        return mm_features


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
