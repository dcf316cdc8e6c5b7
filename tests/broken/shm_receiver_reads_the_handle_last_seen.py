"""What a worker read once it serves for ever under that address.   [SC-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-31", "SC-19", "SC-33", "SC-38", "SC-40"), longest=6, in_tiny=False)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        item = super().get_and_update_item(mm_item, mm_hash)
        if item is mm_item:
            return item
        return self.__dict__.setdefault("read", {}).setdefault(mm_item["address"].data, item)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
