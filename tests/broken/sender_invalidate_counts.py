"""An invalidation counts as a lookup.   [KR-06, KR-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-06",), longest=1)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def invalidate(self, mm_hash: str) -> None:
        self._cache.get(mm_hash)
        super().invalidate(mm_hash)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
