"""Only the handle that was issued last is current.   [SC-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-15",), longest=3)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        super().validate_input_item(mm_item, mm_hash)
        if "address" in mm_item and list(self._shm_cache.key_index)[-1] != mm_hash:
            raise ValueError("Invalid SHM handle signature")


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
