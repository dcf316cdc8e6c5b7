"""Verifying a handle counts as a reading.   [SC-21]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-19", "SC-38"), longest=2, level=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
        super().get_and_update_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
