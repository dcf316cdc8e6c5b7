"""The decision table of the factories, row by row."""

from __future__ import annotations

import os
import secrets
from threading import Lock
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref.reference import (
    LruKeyReplicatedReceiverCache,
    LruKeyReplicatedSenderCache,
    ModelConfig,
    MultiModalConfig,
    MultiModalProcessorOnlyCache,
    ParallelConfig,
    ShmObjectStoreReceiverCache,
    ShmObjectStoreSenderCache,
    VllmConfig,
    engine_receiver_cache_from_config,
    processor_cache_from_config,
    processor_only_cache_from_config,
    worker_receiver_cache_from_config,
)
from mmcache_ref.reference.config import RING_NAME_VARIABLE

LOCK = Lock()


def config(
    *,
    is_multimodal: bool = True,
    cache_gb: float = 4,
    cache_type: str = "lru",
    api_processes: int = 1,
    engines: int = 1,
    has_external_lb: bool = False,
) -> VllmConfig:
    return VllmConfig(
        ModelConfig(
            MultiModalConfig(mm_processor_cache_gb=cache_gb, mm_processor_cache_type=cache_type),
            supports_multimodal_inputs=is_multimodal,
        ),
        ParallelConfig(
            data_parallel_size=engines,
            data_parallel_external_lb=has_external_lb,
            _api_process_count=api_processes,
        ),
    )


def kinds(vllm_config: Any) -> list[type | None]:
    """What the four factories give: P0, P0 alone, engine, worker."""
    caches = [
        processor_cache_from_config(vllm_config),
        processor_only_cache_from_config(vllm_config),
        engine_receiver_cache_from_config(vllm_config),
        worker_receiver_cache_from_config(vllm_config, LOCK),
    ]
    return [None if cache is None else type(cache) for cache in caches]


NO_CACHE = [None, None, None, None]
P0_ONLY = [MultiModalProcessorOnlyCache, MultiModalProcessorOnlyCache, None, None]
LRU_PAIR = [
    LruKeyReplicatedSenderCache,
    MultiModalProcessorOnlyCache,
    LruKeyReplicatedReceiverCache,
    None,
]


@pytest.mark.clause("FA-01")
@pytest.mark.parametrize("cache_type", ["lru", "shm"])
@pytest.mark.parametrize("off", [{"is_multimodal": False}, {"cache_gb": 0}, {"cache_gb": -1}])
def test_there_is_no_cache_when_nothing_could_be_cached(off: Any, cache_type: str) -> None:
    assert kinds(config(cache_type=cache_type, **off)) == NO_CACHE
    assert kinds(config(cache_type=cache_type, api_processes=2, **off)) == NO_CACHE


@pytest.mark.clause("FA-01")
def test_a_text_model_is_not_asked_for_its_multimodal_configuration() -> None:
    text_model = SimpleNamespace(supports_multimodal_inputs=False)
    assert kinds(SimpleNamespace(model_config=text_model)) == NO_CACHE


@pytest.mark.clause("FA-02", "DR-21")
@pytest.mark.parametrize("cache_type", ["lru", "shm"])
@pytest.mark.parametrize(
    "several",
    [
        {"api_processes": 2},
        {"api_processes": 0},
        {"engines": 2},
        {"api_processes": 2, "engines": 2, "has_external_lb": True},
    ],
)
def test_only_p0_caches_unless_one_api_process_feeds_one_engine(several: Any, cache_type: str) -> None:
    assert kinds(config(cache_type=cache_type, **several)) == P0_ONLY


@pytest.mark.clause("FA-02", "FA-03", "FA-05", "FA-06", "FA-07", "FA-08", "DR-21")
@pytest.mark.parametrize(
    "one_to_one", [{}, {"engines": 2, "has_external_lb": True}, {"has_external_lb": True}]
)
def test_one_api_process_for_each_engine_gets_the_pair(one_to_one: Any) -> None:
    assert kinds(config(**one_to_one)) == LRU_PAIR


@pytest.mark.clause("FA-03")
def test_the_default_configuration_gets_the_pair_of_four_gibibytes() -> None:
    assert kinds(VllmConfig()) == LRU_PAIR
    sender: Any = processor_cache_from_config(VllmConfig())
    assert sender._cache.maxsize == 4_294_967_296


@pytest.mark.clause("FA-11")
def test_each_cache_has_the_configured_budget() -> None:
    half = config(cache_gb=0.5)
    caches: list[Any] = [
        processor_cache_from_config(half),
        processor_only_cache_from_config(half),
        engine_receiver_cache_from_config(half),
    ]
    assert [cache._cache.maxsize for cache in caches] == [536_870_912] * 3


@pytest.mark.clause("FA-06")
def test_a_p0_without_engine_caches_whatever_the_type() -> None:
    assert type(processor_only_cache_from_config(config(cache_type="shm"))) is MultiModalProcessorOnlyCache


@pytest.mark.clause("FA-04")
def test_an_unknown_type_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ValueError, match="Unknown cache type: 'zip'"):
        MultiModalConfig(mm_processor_cache_type="zip")


def foreign_config(cache_type: Any) -> Any:
    """Objects of no class of ours, as vLLM's own are."""
    multimodal = SimpleNamespace(mm_processor_cache_gb=1, mm_processor_cache_type=cache_type)
    return SimpleNamespace(
        model_config=SimpleNamespace(
            supports_multimodal_inputs=True, get_multimodal_config=lambda: multimodal
        ),
        parallel_config=SimpleNamespace(
            _api_process_count=1, data_parallel_size=1, data_parallel_external_lb=False
        ),
    )


@pytest.mark.clause("FA-04")
@pytest.mark.parametrize("cache_type", ["zip", "processor_only", None])
def test_an_unknown_type_of_a_foreign_configuration_is_an_error(cache_type: Any) -> None:
    foreign = foreign_config(cache_type)
    for make in (processor_cache_from_config, engine_receiver_cache_from_config):
        with pytest.raises(ValueError, match="Unknown cache type"):
            make(foreign)
    with pytest.raises(ValueError, match="Unknown cache type"):
        worker_receiver_cache_from_config(foreign, None)


@pytest.mark.clause("FA-09")
def test_any_object_with_the_attributes_is_a_configuration() -> None:
    assert kinds(foreign_config("lru")) == LRU_PAIR


@pytest.mark.clause("FA-09")
def test_the_defaults_are_those_of_vllm() -> None:
    multimodal = VllmConfig().model_config.get_multimodal_config()
    assert multimodal == MultiModalConfig(4, "lru", 128)
    assert VllmConfig().model_config.supports_multimodal_inputs is True
    assert VllmConfig().parallel_config.world_size == 1


@pytest.mark.clause("FA-10")
def test_the_object_size_of_the_shared_memory_cache_is_set_only_for_it() -> None:
    with pytest.raises(ValueError, match="mm_shm_cache_max_object_size_mb"):
        MultiModalConfig(mm_shm_cache_max_object_size_mb=64)
    shm = MultiModalConfig(mm_processor_cache_type="shm", mm_shm_cache_max_object_size_mb=64)
    assert shm.mm_shm_cache_max_object_size_mb == 64
    assert MultiModalConfig(mm_shm_cache_max_object_size_mb=128).mm_processor_cache_type == "lru"


@pytest.mark.clause("FA-08")
def test_a_worker_of_the_shared_memory_cache_needs_the_lock() -> None:
    with pytest.raises(ValueError, match="shared_worker_lock"):
        worker_receiver_cache_from_config(config(cache_type="shm"), None)
    assert worker_receiver_cache_from_config(config(), None) is None


@pytest.fixture
def a_ring_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RING_NAME_VARIABLE, f"mmcache_{os.getpid()}_{secrets.token_hex(4)}")


@pytest.mark.clause("FA-05", "FA-07", "FA-08", "FA-13")
@pytest.mark.usefixtures("a_ring_of_its_own")
def test_p0_and_the_workers_get_the_halves_of_the_shared_memory_pair() -> None:
    shm = config(cache_type="shm", cache_gb=1000.5 / 2**30)
    assert engine_receiver_cache_from_config(shm) is None
    sender = processor_cache_from_config(shm)
    try:
        assert type(sender) is ShmObjectStoreSenderCache
        assert sender._shm_cache.ring_buffer.data_buffer_size == 1000
        worker = worker_receiver_cache_from_config(shm, LOCK)
        assert type(worker) is ShmObjectStoreReceiverCache
        worker.close()
    finally:
        assert sender is not None
        sender.close()
