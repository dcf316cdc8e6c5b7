"""What fuzzing chooses: configurations, and operations biased towards the edges of a budget."""

from mmcache_ref.oracle.choices import (
    factories,
    items,
    key_replicated,
    lru,
    object_store,
    processor_cache,
    receiver,
    ring_buffer,
    shm_caches,
    shm_pair,
)

__all__ = [
    "factories",
    "items",
    "key_replicated",
    "lru",
    "object_store",
    "processor_cache",
    "receiver",
    "ring_buffer",
    "shm_caches",
    "shm_pair",
]
