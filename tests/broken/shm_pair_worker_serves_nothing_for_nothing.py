"""A worker returns None for None.   [SC-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-18",), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        return None if mm_item is None else super().get_and_update_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
