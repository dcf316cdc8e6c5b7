"""Only the last touch counts.   [SC-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-08",), longest=3, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        self.release_sender_touches()
        super().touch_sender_cache_item(mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
