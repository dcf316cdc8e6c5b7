"""Closing a cache empties it.   [IF-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-08",), longest=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def close(self) -> None:
        self._cache.clear()


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
