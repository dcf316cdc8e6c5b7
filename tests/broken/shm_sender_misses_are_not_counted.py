"""A put counts no lookup.   [SC-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-13",), longest=1, level=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        result = super().get_and_update_item(mm_item, mm_hash)
        self._total = self._hits
        return result


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
