"""A handle whose chunk is gone ends in a `KeyError`.   [SC-23]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-38", "SC-33", "SC-23", "SC-40"), longest=3)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
        try:
            super().touch_receiver_cache_item(mm_hash, mm_item)
        except ValueError as error:
            if "modified" in str(error):
                raise KeyError(mm_hash) from None
            raise


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
