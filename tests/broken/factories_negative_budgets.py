"""A budget below zero asks for a cache.   [FA-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-01",), longest=1, in_tiny=False)


def _positive(vllm_config: Any) -> Any:
    given = vllm_config.model_config.get_multimodal_config()
    given.mm_processor_cache_gb = abs(given.mm_processor_cache_gb)
    return vllm_config


def processor_cache_from_config(vllm_config: Any) -> Any:
    return reference.processor_cache_from_config(_positive(vllm_config))


def processor_only_cache_from_config(vllm_config: Any) -> Any:
    return reference.processor_only_cache_from_config(_positive(vllm_config))


def engine_receiver_cache_from_config(vllm_config: Any) -> Any:
    return reference.engine_receiver_cache_from_config(_positive(vllm_config))


globals().update(
    names(
        processor_cache_from_config=processor_cache_from_config,
        processor_only_cache_from_config=processor_only_cache_from_config,
        engine_receiver_cache_from_config=engine_receiver_cache_from_config,
    )
)
