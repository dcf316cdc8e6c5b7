"""P0 believes every handle that a client brings.   [SC-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-15", "SC-27"), longest=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        return


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
