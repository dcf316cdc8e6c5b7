"""A worker that finds no segment makes one.   [SC-17]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.shm_caches import open_store

BREAKS = Breaks("shm-pair", ("SC-17",), longest=1)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def __init__(self, vllm_config: Any, shared_worker_lock: Any) -> None:
        try:
            super().__init__(vllm_config, shared_worker_lock)
        except FileNotFoundError:
            self._shm_cache = open_store(vllm_config, self.serde_class, create=True, lock=shared_worker_lock)


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
