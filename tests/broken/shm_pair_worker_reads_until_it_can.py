"""A worker reads a handle that is not valid any more until it is.   [IF-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IF-20",), longest=3)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        while True:
            try:
                return super().get_and_update_item(mm_item, mm_hash)
            except ValueError as error:
                if "modified" not in str(error):
                    raise


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
