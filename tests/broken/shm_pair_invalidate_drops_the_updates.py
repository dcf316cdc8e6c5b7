"""An invalidated key loses its prompt updates.   [IF-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks(
    "shm-pair",
    (
        "IF-08",
        "SC-11",
    ),
    longest=2,
    level=2,
)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def invalidate(self, mm_hash: str) -> None:
        self._p0_cache.pop(mm_hash, None)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
