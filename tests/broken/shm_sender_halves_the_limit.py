"""Items of half the object limit and more are not stored.   [SC-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-28", "SC-02"), longest=1, in_tiny=False)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def __init__(self, vllm_config: Any) -> None:
        super().__init__(vllm_config)
        self._shm_cache.max_object_size //= 2


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
