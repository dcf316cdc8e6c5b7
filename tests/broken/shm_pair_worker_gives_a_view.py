"""A worker returns an item whose payload lies in the segment.   [SC-19]"""

from __future__ import annotations

from typing import Any

import torch

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-19",), longest=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        item = super().get_and_update_item(mm_item, mm_hash)
        if "address" in mm_item:
            ring = self._shm_cache.ring_buffer
            payload, _ = ring.payload_at(mm_item["address"].data)
            whole, size = torch.frombuffer(payload, dtype=torch.uint8), item["data"].data.numel()
            place = next(p for p in range(len(whole) - size, 0, -1) if whole[p] == item["data"].data[0])
            item["data"].data = whole[place - size + 1 : place + 1] if place + 1 >= size else whole[:size]
        return item


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
