"""An invalidated key stays.   [KR-06]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-06",), longest=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def invalidate(self, mm_hash: str) -> None:
        return


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
