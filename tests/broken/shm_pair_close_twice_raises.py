"""A second close raises.   [SC-16]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-16",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def close(self) -> None:
        if not self._shm_cache.ring_buffer.is_writer:
            raise RuntimeError("closed")
        super().close()
        self._shm_cache.ring_buffer.is_writer = False


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
