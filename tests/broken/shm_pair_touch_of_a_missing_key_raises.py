"""A touch of a key that is not stored is a `KeyError`.   [SC-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-08",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        if not self.is_cached_item(mm_hash):
            raise KeyError(mm_hash)
        super().touch_sender_cache_item(mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
