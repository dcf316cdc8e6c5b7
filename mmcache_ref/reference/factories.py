"""Which cache a configuration gets: in P0, in the engine, in a worker."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from .base import BaseMultiModalProcessorCache, BaseMultiModalReceiverCache
from .config import check_cache_type
from .key_replicated import LruKeyReplicatedReceiverCache, LruKeyReplicatedSenderCache
from .processor_only import MultiModalProcessorOnlyCache
from .shm_caches import ShmObjectStoreReceiverCache, ShmObjectStoreSenderCache

CacheType: TypeAlias = Literal["processor_only", "lru", "shm"]


def processor_cache_from_config(vllm_config: Any) -> BaseMultiModalProcessorCache | None:
    """P0's cache.   [FA-05]"""
    cache_type = _cache_type(vllm_config)
    if cache_type == "processor_only":
        return MultiModalProcessorOnlyCache(vllm_config.model_config)
    if cache_type == "lru":
        return LruKeyReplicatedSenderCache(vllm_config.model_config)
    if cache_type == "shm":
        return ShmObjectStoreSenderCache(vllm_config)
    return None


def processor_only_cache_from_config(vllm_config: Any) -> MultiModalProcessorOnlyCache | None:
    """A cache for a P0 without an engine behind it.   [FA-06]"""
    if not _is_enabled(vllm_config):
        return None
    return MultiModalProcessorOnlyCache(vllm_config.model_config)


def engine_receiver_cache_from_config(vllm_config: Any) -> BaseMultiModalReceiverCache | None:
    """The engine's cache.   [FA-07]"""
    if _cache_type(vllm_config) == "lru":
        return LruKeyReplicatedReceiverCache(vllm_config.model_config)
    return None


def worker_receiver_cache_from_config(
    vllm_config: Any, shared_worker_lock: Any | None
) -> BaseMultiModalReceiverCache | None:
    """A worker's cache.   [FA-08]

    Args:
        shared_worker_lock: the `multiprocessing` lock that all workers of the engine share.
    """
    if _cache_type(vllm_config) != "shm":
        return None
    if shared_worker_lock is None:
        raise ValueError("mm_processor_cache_type='shm' needs the workers' common lock as shared_worker_lock")
    return ShmObjectStoreReceiverCache(vllm_config, shared_worker_lock)


def _cache_type(vllm_config: Any) -> CacheType | None:
    """The kind of cache, or `None`.   [FA-01, FA-02, FA-03, FA-04, DR-21]"""
    if not _is_enabled(vllm_config):
        return None
    if not _is_ipc_possible(vllm_config.parallel_config):
        return "processor_only"
    cache_type: CacheType = vllm_config.model_config.get_multimodal_config().mm_processor_cache_type
    check_cache_type(cache_type)
    return cache_type


def _is_enabled(vllm_config: Any) -> bool:
    """Whether there is a cache at all.   [FA-01]"""
    model_config = vllm_config.model_config
    return bool(
        model_config.supports_multimodal_inputs
        and model_config.get_multimodal_config().mm_processor_cache_gb > 0
    )


def _is_ipc_possible(parallel_config: Any) -> bool:
    """Whether there is exactly one P0 for one P1.   [FA-02, DR-21]"""
    return bool(
        parallel_config._api_process_count == 1
        and (parallel_config.data_parallel_size == 1 or parallel_config.data_parallel_external_lb)
    )
