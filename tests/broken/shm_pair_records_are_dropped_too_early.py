"""Prompt updates are swept when there are as many as stored keys.   [SC-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-11",), longest=4, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _record(self, mm_hash: str, prompt_updates: Any) -> None:
        if len(self._p0_cache) >= len(self._shm_cache.key_index):
            self.remove_dangling_items()
        self._p0_cache[mm_hash] = prompt_updates


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
