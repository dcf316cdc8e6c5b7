"""After a clear a difference is taken to counters from before it.   [SC-13]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-13",), longest=4, in_tiny=False)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def clear_cache(self) -> None:
        reported = self._last_info
        super().clear_cache()
        self._last_info = reported


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
