"""A worker's clear sets the reader count of the oldest chunk to zero.   [SC-24]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-24",), longest=3, level=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def clear_cache(self) -> None:
        ring = self._shm_cache.ring_buffer
        begin = ring.DATA_OFFSET + ring.MD_SIZE
        ring.shared_memory.buf[begin : begin + 4] = bytes(4)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
