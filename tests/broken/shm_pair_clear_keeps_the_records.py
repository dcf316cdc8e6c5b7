"""A clear empties the store, and keeps the prompt updates.   [SC-12]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-12",), longest=2, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def clear_cache(self) -> None:
        kept = dict(self._p0_cache)
        super().clear_cache()
        self._p0_cache = kept


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
