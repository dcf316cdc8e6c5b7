"""What is invalidated stays promised.   [KR-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=4)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def invalidate(self, mm_hash: str) -> None:
        self._cache.pop(mm_hash)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
