"""P0 takes a handle that is signed, also when it is not the current one.   [SC-15]"""

from __future__ import annotations

import hmac
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-27",), longest=5)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        try:
            super().validate_input_item(mm_item, mm_hash)
        except ValueError:
            parts = [
                getattr(mm_item.get(name), "data", None) for name in ("address", "monotonic_id", "signature")
            ]
            if not all(type(part) is int and 0 <= part < 1 << 32 for part in parts[:2]):
                raise
            signed = self._shm_cache._make_signature(mm_hash, *parts[:2])
            if not isinstance(parts[2], list) or not hmac.compare_digest(str(list(signed)), str(parts[2])):
                raise


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
