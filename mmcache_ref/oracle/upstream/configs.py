"""Configuration objects with the attributes that the cache classes of any release read.

Real configuration classes load models; the caches read only the few attributes below, so plain
objects serve them all. An attribute that is not here is an `AttributeError`, not a default.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

GIB: Final = 2**30
"""Bytes in one of the `_gb` units of vLLM's configuration."""


def make_model_config(capacity_bytes: int) -> Any:
    """A model configuration whose caches hold `capacity_bytes` bytes, exactly."""
    return make_vllm_config(mm_processor_cache_gb=capacity_bytes / GIB).model_config


def make_vllm_config(
    *,
    supports_multimodal_inputs: bool = True,
    mm_processor_cache_gb: float = 4,
    mm_processor_cache_type: str = "lru",
    mm_shm_cache_max_object_size_mb: float = 128,
    world_size: int = 1,
    _api_process_count: int = 1,
    data_parallel_size: int = 1,
    data_parallel_external_lb: bool = False,
) -> Any:
    """A whole configuration; the arguments are named after the attributes they become.

    Args:
        mm_processor_cache_gb: budget in units of 2**30 bytes; `bytes / 2**30` is exact up to 2**53 bytes.
        mm_shm_cache_max_object_size_mb: in units of 2**20 bytes.
        world_size: number of workers, that is of readers of the shared-memory store.
    """
    multimodal_config = SimpleNamespace(
        mm_processor_cache_gb=mm_processor_cache_gb,
        mm_processor_cache_type=mm_processor_cache_type,
        mm_shm_cache_max_object_size_mb=mm_shm_cache_max_object_size_mb,
    )
    model_config = SimpleNamespace(
        supports_multimodal_inputs=supports_multimodal_inputs,
        get_multimodal_config=lambda: multimodal_config,
    )
    parallel_config = SimpleNamespace(
        world_size=world_size,
        _api_process_count=_api_process_count,
        data_parallel_size=data_parallel_size,
        data_parallel_external_lb=data_parallel_external_lb,
    )
    return SimpleNamespace(model_config=model_config, parallel_config=parallel_config)
