"""Chunks are free when one worker has read them, however many there are.   [FA-14]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-14",), longest=1, level=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def __init__(self, vllm_config: Any) -> None:
        super().__init__(vllm_config)
        self._shm_cache.n_readers = 1


def processor_cache_from_config(vllm_config: Any) -> Any:
    made = reference.processor_cache_from_config(vllm_config)
    if not isinstance(made, reference.ShmObjectStoreSenderCache):
        return made
    made.close()
    return ShmObjectStoreSenderCache(vllm_config)


globals().update(
    names(
        processor_cache_from_config=processor_cache_from_config,
        ShmObjectStoreSenderCache=ShmObjectStoreSenderCache,
    )
)
