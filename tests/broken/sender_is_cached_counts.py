"""The check counts as a lookup.   [IF-06, KR-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-06", "KR-07"), longest=1)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def is_cached_item(self, mm_hash: str) -> bool:
        return self._cache.get(mm_hash) is not None


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
