"""A worker gets no cache, and no error, for shared memory without a lock.   [FA-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-08",), longest=1)


def worker_receiver_cache_from_config(vllm_config: Any, shared_worker_lock: Any) -> Any:
    if shared_worker_lock is None:
        return None
    return reference.worker_receiver_cache_from_config(vllm_config, shared_worker_lock)


globals().update(names(worker_receiver_cache_from_config=worker_receiver_cache_from_config))
