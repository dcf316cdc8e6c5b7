"""A touched item is reclaimed all the same.   [SC-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-05", "SC-36", "SC-04", "SC-28", "SC-38"), longest=4, in_tiny=False)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        return


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
