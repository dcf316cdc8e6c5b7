"""A handle with an element more is taken for no handle.   [SC-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-15",), longest=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        if "address" in mm_item and len(mm_item) != 3:
            raise ValueError("Invalid SHM handle signature")
        super().validate_input_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
