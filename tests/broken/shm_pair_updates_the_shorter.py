"""Two lists of different lengths are updated as far as both go.   [IF-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IF-02",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update(self, mm_items: Any, mm_hashes: list[str]) -> Any:
        pairs = zip(mm_items, mm_hashes, strict=False)
        return [self.get_and_update_item(item, mm_hash) for item, mm_hash in pairs]


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
