"""The error of a miss is no `RuntimeError`.   [IF-17]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-17",), longest=1)


class MultiModalCacheMissError(KeyError):
    def __init__(self, mm_hashes: list[str]) -> None:
        super().__init__(str(reference.MultiModalCacheMissError(mm_hashes)))
        self.mm_hashes = mm_hashes


globals().update(names(MultiModalCacheMissError=MultiModalCacheMissError))
