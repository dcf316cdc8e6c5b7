"""A worker acknowledges each reading twice.   [SC-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-19", "SC-38"), longest=2, level=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        super().get_and_update_item(mm_item, mm_hash)
        return super().get_and_update_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
