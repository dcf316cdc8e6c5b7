"""The prompt updates of a key are recorded before the sweep.   [SC-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-11",), longest=4, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _record(self, mm_hash: str, prompt_updates: Any) -> None:
        self._p0_cache[mm_hash] = prompt_updates
        if len(self._p0_cache) >= 2 * len(self._shm_cache.key_index):
            self.remove_dangling_items()


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
