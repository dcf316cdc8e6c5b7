"""A handle carries its id in three bytes.   [SC-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-06", "SC-15", "SC-19", "SC-21", "SC-23"), longest=2, in_tiny=False)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def address_as_item(self, address: int, monotonic_id: int, signature: list[int]) -> Any:
        return super().address_as_item(address, monotonic_id % (1 << 24), signature)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
