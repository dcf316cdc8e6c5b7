"""The difference since the last call is the whole.   [SC-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-13",), longest=3)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def make_stats(self, *, delta: bool = False) -> Any:
        return super().make_stats()


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
