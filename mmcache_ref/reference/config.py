"""Stand-ins for vLLM's configuration objects, with the attributes that the caches read.

The caches and the factories read attributes and never ask for a type: vLLM's own configuration
objects serve as well.
"""

from __future__ import annotations

import base64
import os
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

MM_CACHE_TYPES: Final = ("lru", "shm")

DEFAULT_MAX_OBJECT_SIZE_MB: Final = 128

RING_NAME_VARIABLE: Final = "VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME"


def check_cache_type(cache_type: Any) -> None:
    """Raise `ValueError` for an unknown value of `mm_processor_cache_type`.   [FA-04]"""
    if cache_type not in MM_CACHE_TYPES:
        raise ValueError(f"Unknown cache type: {cache_type!r}. Set 'lru' or 'shm'.")


@dataclass(frozen=True)
class MultiModalConfig:
    """The part of the configuration that is about the caches.   [FA-03, FA-09, FA-10]

    Attributes:
        mm_processor_cache_gb: budget of each cache in units of 2**30 bytes; 0 for no cache.
        mm_processor_cache_type: `lru` or `shm`.
        mm_shm_cache_max_object_size_mb: largest object of the shared-memory cache, in units of 2**20 bytes.
    """

    mm_processor_cache_gb: float = 4
    mm_processor_cache_type: str = "lru"
    mm_shm_cache_max_object_size_mb: int = DEFAULT_MAX_OBJECT_SIZE_MB

    def __post_init__(self) -> None:
        check_cache_type(self.mm_processor_cache_type)
        is_set = self.mm_shm_cache_max_object_size_mb != DEFAULT_MAX_OBJECT_SIZE_MB
        if is_set and self.mm_processor_cache_type != "shm":
            raise ValueError(
                "mm_shm_cache_max_object_size_mb is for mm_processor_cache_type='shm', not for "
                f"{self.mm_processor_cache_type!r}: leave it at {DEFAULT_MAX_OBJECT_SIZE_MB}"
            )


@dataclass(frozen=True)
class ModelConfig:
    """The model's part: whether it takes multi-modal input, and its caches.   [FA-09]"""

    multimodal_config: MultiModalConfig = field(default_factory=MultiModalConfig)
    supports_multimodal_inputs: bool = True

    def get_multimodal_config(self) -> MultiModalConfig:
        return self.multimodal_config


@dataclass(frozen=True)
class ParallelConfig:
    """How many processes there are.   [FA-09]

    Attributes:
        world_size: the workers of one engine.
        data_parallel_size: the engines.
        data_parallel_external_lb: an external load balancer gives each engine its own API process.
    """

    world_size: int = 1
    data_parallel_size: int = 1
    data_parallel_external_lb: bool = False
    _api_process_count: int = 1


@dataclass(frozen=True)
class VllmConfig:
    """The whole configuration, as far as caches are concerned.   [FA-09]"""

    model_config: ModelConfig = field(default_factory=ModelConfig)
    parallel_config: ParallelConfig = field(default_factory=ParallelConfig)


def ring_bytes(config: Any) -> int:
    """Bytes of the ring: the budget, cut to a whole number.   [FA-13]"""
    return int(config.mm_processor_cache_gb * 2**30)


def max_object_bytes(config: Any) -> int:
    """Bytes of the largest object, with what the store adds to it.   [FA-13]"""
    return int(config.mm_shm_cache_max_object_size_mb * 2**20)


def ring_name() -> str:
    """Name of the segment: from the environment, where it is put if it is not there.   [FA-12]

    A made-up name has 30 characters: with its slash the 31 that macOS allows.
    """
    if RING_NAME_VARIABLE not in os.environ:
        unique = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        os.environ[RING_NAME_VARIABLE] = f"vllm_mm_{unique}"
    return os.environ[RING_NAME_VARIABLE]
