"""The signature of a handle is no list of ints.   [SC-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-06",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def address_as_item(self, address: int, monotonic_id: int, signature: Any) -> Any:
        return super().address_as_item(address, monotonic_id, bytes(signature))  # type: ignore[arg-type]


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
