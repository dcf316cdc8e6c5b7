"""A lookup without data is counted before it fails.   [SC-04]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-04",), longest=1, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        if mm_item is None and not self.is_cached_item(mm_hash):
            self._total += 1
        return super().get_and_update_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
