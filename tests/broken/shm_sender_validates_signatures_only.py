"""P0 takes a handle that is signed, also when it is not the current one.   [SC-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import verified

BREAKS = Breaks("shm-caches", ("SC-27",), longest=7)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        if "address" in mm_item:
            parts = (
                getattr(mm_item.get(name), "data", None) for name in ("address", "monotonic_id", "signature")
            )
            verified(self._shm_cache._current_secret(), mm_hash, *parts)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
