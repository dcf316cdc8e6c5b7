"""A list of updates is done from its end.   [IF-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IF-01",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def get_and_update(self, mm_items: Any, mm_hashes: list[str]) -> Any:
        return super().get_and_update(mm_items[::-1], mm_hashes[::-1])[::-1]


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
