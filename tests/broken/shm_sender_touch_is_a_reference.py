"""A touch counts as a reference, which nobody acknowledges.   [SC-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-03", "SC-38", "SC-36", "SC-28", "SC-05"), longest=4, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def touch_sender_cache_item(self, mm_hash: str) -> None:
        super().touch_sender_cache_item(mm_hash)
        if self.is_cached_item(mm_hash):
            self._shm_cache.writer_flag[self._shm_cache.key_index[mm_hash][1]] += 1


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
