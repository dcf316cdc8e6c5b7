"""A sender that is closed keeps its segment.   [SC-16]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-16",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def close(self) -> None:
        return


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
