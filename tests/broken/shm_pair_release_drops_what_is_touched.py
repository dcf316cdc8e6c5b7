"""The release frees what was touched.   [SC-09]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-09",), longest=4, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def release_sender_touches(self) -> None:
        super().release_sender_touches()
        self._shm_cache.free_unused()


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
