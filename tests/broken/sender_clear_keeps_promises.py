"""A clear leaves what was promised.   [KR-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=4)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def clear_cache(self) -> None:
        self._cache.clear()


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
