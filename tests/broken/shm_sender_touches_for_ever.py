"""Touches are never released.   [SC-09]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-28", "SC-36", "SC-02", "SC-38"), longest=4)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    """What is touched before it is put stays touched."""

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        self.__dict__.setdefault("wanted", set()).add(mm_hash)
        super().touch_sender_cache_item(mm_hash)

    def release_sender_touches(self) -> None:
        for mm_hash in self.__dict__.get("wanted", ()):
            super().touch_sender_cache_item(mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
