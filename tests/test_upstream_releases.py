"""Published releases, loaded side by side: one item goes P0 -> P1 in each as that release documents it.

The releases are fetched through pip into the normal cache folder when they are not there yet.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.oracle.namespace import RING_NAME
from mmcache_ref.oracle.upstream import UpstreamNamespace, load_release

pytestmark = pytest.mark.upstream

NAMED = ("0.32.0", "0.30.0", "0.28.0", "0.24.0")
OTHERS = ("0.10.2", *(f"0.{minor}.0" for minor in range(11, 33) if f"0.{minor}.0" not in NAMED))
WITHOUT_MISS_ERROR = ("0.10.2", *(f"0.{minor}.0" for minor in range(11, 28)))
STORAGE_NAMES = (
    "MsgpackSerde",
    "ObjectSerde",
    "ShmObjectStorageHandle",
    "SingleWriterShmObjectStorage",
    "SingleWriterShmRingBuffer",
)
SHM_NAMES = (
    *STORAGE_NAMES,
    "ShmObjectStoreReceiverCache",
    "ShmObjectStoreSenderCache",
    "worker_receiver_cache_from_config",
)
BYTES = (3, 1, 4, 1, 5, 9, 2, 6)


def item_of_8_bytes(release: UpstreamNamespace) -> Any:
    import torch

    return release.make_item({"pixels": torch.tensor(BYTES, dtype=torch.uint8)})


def pixels(item: Any) -> tuple[int, ...]:
    return tuple(item.get_data()["pixels"].tolist())


def merge_one(release: UpstreamNamespace, cache: Any, item: Any, is_cached: bool) -> tuple[Any, list[int]]:
    """The processor's merge step for the one image `A`; returns what is sent and the tokens to insert."""
    items = [] if is_cached else [item]
    updates = [] if is_cached else [[release.make_prompt_update("image", 0, [42, 43])]]
    kwargs, prompt_updates = release.merge_mm_kwargs(
        cache,
        {"image": ["A"]},
        {"image": [is_cached]},
        release.MultiModalKwargsItems({"image": items}),
        {"image": updates},
    )
    (sent,), ((update,),) = kwargs["image"], prompt_updates["image"]
    return sent, list(update.content.full)


def ingest(release: UpstreamNamespace, receiver: Any, sent: Any) -> Any:
    feature = release.make_feature(sent, "image", "A", 0)
    (returned,) = receiver.get_and_update_features([feature])
    assert returned is feature
    return feature.data


def check_the_way_of_one_item(release: UpstreamNamespace) -> None:
    """Miss: the very item is sent. Hit: nothing is sent, P1 has it. Tokens come back from P0 both times."""
    sender = release.LruKeyReplicatedSenderCache(release.make_model_config(8))
    receiver = release.LruKeyReplicatedReceiverCache(release.make_model_config(8))
    item = item_of_8_bytes(release)
    assert sender.is_cached(["A"]) == [False]

    sent, tokens = merge_one(release, sender, item, is_cached=False)
    assert sent is item
    assert tokens == [42, 43]
    assert ingest(release, receiver, sent) is item
    assert sender.is_cached(["A"]) == [True]

    sent, tokens = merge_one(release, sender, None, is_cached=True)
    assert sent is None
    assert tokens == [42, 43]
    assert pixels(ingest(release, receiver, sent)) == BYTES

    miss = getattr(release, "MultiModalCacheMissError", AssertionError)
    with pytest.raises(miss):
        receiver.get_and_update_item(None, "B")


def ring_name(release: UpstreamNamespace) -> str:
    return f"mmcache_ref_test_{os.getpid()}_{release.version}"


@contextmanager
def shm_pair(release: UpstreamNamespace) -> Iterator[tuple[Any, Any]]:
    """A shared-memory sender and one worker's receiver, on a ring of 64 KiB."""
    config = release.make_vllm_config(
        mm_processor_cache_type="shm",
        mm_processor_cache_gb=2**16 / 2**30,
        mm_shm_cache_max_object_size_mb=2**13 / 2**20,
    )
    with release.ring_named(ring_name(release)):
        sender = release.processor_cache_from_config(config)
        receiver = release.worker_receiver_cache_from_config(config, multiprocessing.Lock())
    try:
        yield sender, receiver
    finally:
        # Before 0.15 a sender has no `close`: it unlinks its ring when it is collected.
        getattr(sender, "close", lambda: None)()


def check_the_way_of_one_handle(release: UpstreamNamespace) -> None:
    """P0 sends a handle at the miss and at the hit; the worker makes a copy of the item from it."""
    with shm_pair(release) as (sender, receiver):
        assert Path("/dev/shm", ring_name(release)).exists()
        item = item_of_8_bytes(release)
        for is_cached in (False, True):
            handle, tokens = merge_one(release, sender, item, is_cached)
            assert {"address", "monotonic_id"} <= set(handle)
            assert tokens == [42, 43]
            assert pixels(ingest(release, receiver, handle)) == BYTES


def test_the_named_releases_live_side_by_side() -> None:
    releases = [load_release(version) for version in NAMED]
    assert [release.version for release in releases] == list(NAMED)
    assert len({release.LRUCache for release in releases}) == len(NAMED)
    assert "vllm" not in sys.modules
    assert "transformers" not in sys.modules
    for release in releases:
        check_the_way_of_one_item(release)


@pytest.mark.parametrize("version", NAMED)
def test_a_handle_goes_from_p0_to_a_worker(version: str) -> None:
    check_the_way_of_one_handle(load_release(version))


def test_a_release_is_loaded_once() -> None:
    assert load_release("0.32") is load_release("0.32.0")


@pytest.mark.parametrize("version", NAMED)
def test_a_name_that_a_release_lacks_is_missing_and_no_attribute(version: str) -> None:
    release = load_release(version)
    expected = ("MultiModalCacheMissError",) if version in WITHOUT_MISS_ERROR else ()
    assert release.missing == expected
    assert hasattr(release, "MultiModalCacheMissError") == (expected == ())


@pytest.mark.parametrize("version", NAMED)
@pytest.mark.parametrize("capacity", [0, 1, 7, 8, 1000003, 2**40 + 1])
def test_a_budget_in_bytes_is_exact(version: str, capacity: int) -> None:
    release = load_release(version)
    gigabytes = release.make_model_config(capacity).get_multimodal_config().mm_processor_cache_gb
    assert Fraction(gigabytes) * 2**30 == capacity
    assert release.MultiModalCache.get_lru_cache(gigabytes, release.MultiModalKwargsItem).maxsize == capacity


@pytest.mark.parametrize("version", NAMED)
def test_a_byte_too_few_evicts_the_older_item(version: str) -> None:
    release = load_release(version)
    for capacity, kept in ((16, [True, True]), (15, [False, True])):
        sender = release.LruKeyReplicatedSenderCache(release.make_model_config(capacity))
        for mm_hash in ("A", "B"):
            sender.get_and_update_item((item_of_8_bytes(release), []), mm_hash)
        assert sender.is_cached(["A", "B"]) == kept


@pytest.mark.parametrize("version", NAMED)
def test_an_element_has_the_field_that_was_asked_for(version: str) -> None:
    release = load_release(version)
    kinds = {
        "batched": release.MultiModalBatchedField,
        "flat": release.MultiModalFlatField,
        "shared": release.MultiModalSharedField,
    }
    for name, kind in kinds.items():
        element = release.make_element("pixels", 7, name)
        assert type(element.field) is kind
        assert element.data == 7
    tensor = item_of_8_bytes(release)["pixels"].data
    (whole,) = release.make_field("flat").build_elems("image", "pixels", tensor)
    assert whole.data.tolist() == list(BYTES)
    with pytest.raises(ValueError, match="batched, flat or shared"):
        release.make_element("pixels", 7, "round")


IPC, ALONE, NONE = (
    ("Sender", "ProcessorOnly", "Receiver"),
    ("ProcessorOnly", "ProcessorOnly", None),
    (None,) * 3,
)
DECISIONS: list[tuple[dict[str, Any], tuple[str | None, ...]]] = [
    ({}, IPC),
    ({"supports_multimodal_inputs": False}, NONE),
    ({"mm_processor_cache_gb": 0}, NONE),
    ({"_api_process_count": 2}, ALONE),
    ({"data_parallel_size": 2}, ALONE),
    ({"data_parallel_size": 2, "data_parallel_external_lb": True}, IPC),
    ({"data_parallel_size": 2, "data_parallel_external_lb": True, "_api_process_count": 2}, ALONE),
]


@pytest.mark.parametrize("version", NAMED)
@pytest.mark.parametrize(("attributes", "expected"), DECISIONS)
def test_the_factories_decide_by_the_configuration(
    version: str, attributes: dict[str, Any], expected: tuple[str | None, ...]
) -> None:
    release = load_release(version)
    classes = {
        "Sender": release.LruKeyReplicatedSenderCache,
        "ProcessorOnly": release.MultiModalProcessorOnlyCache,
        "Receiver": release.LruKeyReplicatedReceiverCache,
        None: type(None),
    }
    config = release.make_vllm_config(**attributes)
    made = (
        release.processor_cache_from_config(config),
        release.processor_only_cache_from_config(config),
        release.engine_receiver_cache_from_config(vllm_config=config),
    )
    assert tuple(map(type, made)) == tuple(classes[name] for name in expected)
    assert release.worker_receiver_cache_from_config(config, multiprocessing.Lock()) is None


@pytest.mark.parametrize("version", NAMED)
def test_a_factory_refuses_arguments_that_0_32_does_not_take(version: str) -> None:
    release = load_release(version)
    with pytest.raises(TypeError):
        release.processor_cache_from_config(release.make_vllm_config(), None)


def test_a_ring_name_holds_for_one_release_and_only_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME", "from_the_environment")
    one, other = load_release("0.32.0"), load_release("0.30.0")
    envs = {release.version: release.ring_name_modules[0] for release in (one, other)}

    def names() -> list[str]:
        return [envs[version].VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME for version in ("0.32.0", "0.30.0")]

    with one.ring_named("mine"):
        assert names() == ["mine", "from_the_environment"]
    assert names() == ["from_the_environment", "from_the_environment"]


def test_a_release_makes_a_ring_name_up_where_none_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RING_NAME, "so that it is restored")
    monkeypatch.delenv(RING_NAME)
    name = load_release("0.32.0").ring_name_modules[0].VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME
    assert name.startswith("vllm_mm_")
    assert os.environ[RING_NAME] == name


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_every_other_minor_release_loads_and_carries_an_item(version: str) -> None:
    release = load_release(version)
    expected = ("MultiModalCacheMissError",) if version in WITHOUT_MISS_ERROR else ()
    assert release.missing == (expected if version != "0.10.2" else tuple(sorted(expected + SHM_NAMES)))
    check_the_way_of_one_item(release)
    if "ShmObjectStoreSenderCache" not in release.missing:
        check_the_way_of_one_handle(release)
