"""The prompt updates of a key stay when it is stored again with others.   [SC-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-10",), longest=4, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _record(self, mm_hash: str, prompt_updates: Any) -> None:
        super()._record(mm_hash, self._p0_cache.get(mm_hash, prompt_updates))


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
