"""Prompt updates are kept until the next clear.   [SC-11]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-11",), longest=5, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def remove_dangling_items(self) -> None:
        return


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
