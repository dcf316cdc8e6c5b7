"""The limit of one object is read in units of 10**6 bytes.   [FA-13]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-13",), longest=1, level=2)


def processor_cache_from_config(vllm_config: Any) -> Any:
    vllm_config.model_config.multimodal_config.mm_shm_cache_max_object_size_mb *= 10**6 / 2**20
    return reference.processor_cache_from_config(vllm_config)


globals().update(names(processor_cache_from_config=processor_cache_from_config))
