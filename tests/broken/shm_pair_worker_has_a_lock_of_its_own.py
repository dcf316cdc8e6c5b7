"""A worker counts under a lock that no other takes.   [SC-19]"""

from __future__ import annotations

import threading
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-19",), longest=2)


class ShmObjectStoreReceiverCache(reference.ShmObjectStoreReceiverCache):
    def __init__(self, vllm_config: Any, shared_worker_lock: Any) -> None:
        super().__init__(vllm_config, shared_worker_lock and threading.Lock())


globals().update(names(ShmObjectStoreReceiverCache=ShmObjectStoreReceiverCache))
