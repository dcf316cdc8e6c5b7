"""A hash without a letter counts as one.   [IT-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, for_now, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IT-10",), longest=1)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_features(self, mm_features: Any) -> Any:
        identifiers = [each.identifier if each.mm_hash is None else each.mm_hash for each in mm_features]
        with for_now(mm_features, "identifier", identifiers):
            return super().get_and_update_features(mm_features)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
