"""Engines that are balanced from outside get no keys replicated.   [FA-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-02",), longest=1)


def processor_cache_from_config(vllm_config: Any) -> Any:
    vllm_config.parallel_config.data_parallel_external_lb = False
    return reference.processor_cache_from_config(vllm_config)


globals().update(names(processor_cache_from_config=processor_cache_from_config))
