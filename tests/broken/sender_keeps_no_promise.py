"""What a request pushes out itself is gone for it.   [KR-13]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-13",), longest=3)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        self._cache.touch(mm_hash)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
