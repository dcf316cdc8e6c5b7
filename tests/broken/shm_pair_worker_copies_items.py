"""A worker returns a copy of an item that is no handle.   [SC-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-20",), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        item = super().get_and_update_item(mm_item, mm_hash)
        return reference.MultiModalKwargsItem(dict(item)) if item is mm_item else item


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
