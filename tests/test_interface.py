"""What all caches have in common, on each of the three that live in one process."""

from __future__ import annotations

import gc
import logging
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from batched_items import item, item_of

import mmcache_ref.reference as reference
from mmcache_ref.reference import (
    BaseMultiModalCache,
    BaseMultiModalProcessorCache,
    BaseMultiModalReceiverCache,
    CacheInfo,
    LruKeyReplicatedReceiverCache,
    LruKeyReplicatedSenderCache,
    ModelConfig,
    MultiModalCache,
    MultiModalCacheMissError,
    MultiModalConfig,
    MultiModalFeatureSpec,
    MultiModalKwargsItem,
    MultiModalKwargsItems,
    MultiModalProcessorOnlyCache,
    PlaceholderRange,
)

P0: list[type] = [MultiModalProcessorOnlyCache, LruKeyReplicatedSenderCache]
P1: list[type] = [LruKeyReplicatedReceiverCache]


def model_config(capacity: int) -> ModelConfig:
    return ModelConfig(MultiModalConfig(mm_processor_cache_gb=capacity / 2**30))


def feature(data: MultiModalKwargsItem | None, mm_hash: str | None, identifier: str = "") -> Any:
    return MultiModalFeatureSpec(
        data=data,
        modality="image",
        identifier=identifier,
        mm_position=PlaceholderRange(0, 1),
        mm_hash=mm_hash,
    )


def given(cache: Any, nbytes: int) -> Any:
    """The input of an update with data, as this kind of cache takes it."""
    return item(nbytes) if isinstance(cache, BaseMultiModalReceiverCache) else (item(nbytes), [])


def order(cache: Any) -> list[str]:
    return list(cache._cache.order)


@pytest.fixture(params=P0 + P1)
def cache(request: pytest.FixtureRequest) -> Any:
    """An empty cache of 10 bytes, of any kind."""
    return request.param(model_config(10))


@pytest.fixture(params=P0)
def p0_cache(request: pytest.FixtureRequest) -> Any:
    """An empty cache of 10 bytes of P0."""
    return request.param(model_config(10))


@pytest.fixture
def receiver() -> LruKeyReplicatedReceiverCache:
    return LruKeyReplicatedReceiverCache(model_config(10))


def test_every_public_name_can_be_imported_from_the_package() -> None:
    assert reference.__all__ == sorted(set(reference.__all__))
    assert all(hasattr(reference, name) for name in reference.__all__)


@pytest.mark.clause("IF-01")
def test_updating_many_is_updating_one_by_one_in_order(cache: Any) -> None:
    inputs = [given(cache, 4), given(cache, 4), given(cache, 4), None]
    outputs = cache.get_and_update(inputs, ["a", "b", "c", "b"])
    assert [output is given_in for output, given_in in zip(outputs, inputs, strict=True)] == [True] * 3 + [
        False
    ]
    assert outputs[3] is not None
    assert order(cache) == ["c", "b"]


@pytest.mark.clause("IF-02")
@pytest.mark.parametrize("hashes", [["a"], ["a", "b", "c"], []])
def test_updating_lists_of_different_lengths_raises_and_changes_nothing(
    cache: Any, hashes: list[str]
) -> None:
    with pytest.raises(AssertionError):
        cache.get_and_update([given(cache, 1), given(cache, 1)], hashes)
    assert (order(cache), cache._cache.stat()) == ([], (0, 0))


@pytest.mark.clause("IF-03")
def test_a_value_that_fits_is_cached_and_a_larger_one_changes_nothing(cache: Any) -> None:
    assert cache.cache_if_fits(cache._cache, "a", item(10)) is True
    assert cache.cache_if_fits(cache._cache, "a", item(11)) is False
    assert cache.cache_if_fits(cache._cache, "b", item(11)) is False
    assert (order(cache), cache._cache.currsize) == (["a"], 10)


@pytest.mark.clause("IF-04")
def test_only_the_first_value_that_does_not_fit_is_reported(
    cache: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        cache.get_and_update_item(given(cache, 10), "a")
        assert caplog.records == []
        cache.get_and_update_item(given(cache, 11), "b")
        cache.get_and_update_item(given(cache, 12), "c")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "11 bytes" in caplog.text
    assert "10 bytes" in caplog.text


@pytest.mark.clause("IF-05")
def test_a_clear_empties_the_cache_and_resets_its_counters(cache: Any) -> None:
    cache.get_and_update_item(given(cache, 4), "a")
    cache.get_and_update_item(None, "a")
    cache.clear_cache()
    assert (order(cache), cache._cache.currsize, cache._cache.stat()) == ([], 0, (0, 0))


@pytest.mark.clause("IF-06")
def test_asking_what_is_cached_neither_reorders_nor_counts(p0_cache: Any) -> None:
    p0_cache.get_and_update([given(p0_cache, 1)] * 2, ["a", "b"])
    assert p0_cache.is_cached(["a", "z", "b", "a"]) == [True, False, True, True]
    assert (p0_cache.is_cached_item("a"), p0_cache.is_cached_item("z")) == (True, False)
    assert (order(p0_cache), p0_cache.make_stats()) == (["a", "b"], (0, 2))


@pytest.mark.clause("IF-07")
def test_a_touch_makes_a_cached_key_most_recent_without_counting(p0_cache: Any) -> None:
    p0_cache.get_and_update([given(p0_cache, 1)] * 2, ["a", "b"])
    p0_cache.touch_sender_cache_item("a")
    p0_cache.touch_sender_cache_item("z")
    assert (order(p0_cache), p0_cache.make_stats()) == (["b", "a"], (0, 2))


@pytest.mark.clause("IF-08")
def test_what_a_cache_does_not_need_does_nothing() -> None:
    cache = MultiModalProcessorOnlyCache(model_config(10))
    cache.get_and_update_item((item(1), []), "a")
    cache.release_sender_touches()
    cache.invalidate("a")
    cache.validate_input_item(item(1), "a")
    cache.close()
    assert (order(cache), cache.make_stats()) == (["a"], (0, 1))


@pytest.mark.clause("IF-08")
def test_the_sender_accepts_every_item_and_holds_nothing_that_must_be_closed() -> None:
    cache = LruKeyReplicatedSenderCache(model_config(10))
    cache.get_and_update_item((item(1), []), "a")
    cache.validate_input_item(item(1), "a")
    cache.close()
    assert (order(cache), cache.make_stats()) == (["a"], (0, 1))


@pytest.mark.clause("IF-09")
def test_statistics_count_updates_since_the_clear_or_since_the_last_delta(p0_cache: Any) -> None:
    p0_cache.get_and_update([given(p0_cache, 1), None, given(p0_cache, 1)], ["a", "a", "b"])
    assert p0_cache.make_stats() == CacheInfo(hits=1, total=3)
    assert p0_cache.make_stats(delta=True) == CacheInfo(hits=1, total=3)
    p0_cache.get_and_update_item(None, "b")
    assert p0_cache.make_stats(delta=True) == CacheInfo(hits=1, total=1)
    assert p0_cache.make_stats() == CacheInfo(hits=2, total=4)
    p0_cache.clear_cache()
    assert p0_cache.make_stats() == p0_cache.make_stats(delta=True) == CacheInfo(0, 0)


class RecordingReceiver(LruKeyReplicatedReceiverCache):
    """Writes down what the loop over the features calls."""

    def __init__(self, capacity: int) -> None:
        super().__init__(model_config(capacity))
        self.calls: list[str] = []

    def touch_receiver_cache_item(self, mm_hash: str, mm_item: MultiModalKwargsItem | None = None) -> None:
        self.calls.append(f"touch {mm_hash}")
        super().touch_receiver_cache_item(mm_hash, mm_item)

    def get_and_update_item(self, mm_item: MultiModalKwargsItem | None, mm_hash: str) -> MultiModalKwargsItem:
        self.calls.append(f"update {mm_hash}")
        return super().get_and_update_item(mm_item, mm_hash)


@pytest.mark.clause("IF-13", "IF-14")
def test_every_feature_is_touched_before_any_is_updated() -> None:
    cache = RecordingReceiver(10)
    cache.get_and_update_features([feature(item(1), "a"), feature(item(1), "b"), feature(None, "a")])
    assert cache.calls == [f"{call} {key}" for call in ("touch", "update") for key in "aba"]


@pytest.mark.clause("IF-13", "IT-10")
def test_a_feature_without_hash_is_touched_under_its_identifier() -> None:
    cache = RecordingReceiver(10)
    cache.get_and_update_features([feature(item(1), None, "identity")])
    assert cache.calls == ["touch identity", "update identity"]


@pytest.mark.clause("IF-14")
def test_features_are_updated_in_place_and_their_list_is_returned(
    receiver: LruKeyReplicatedReceiverCache,
) -> None:
    sent = item(1)
    features = [feature(sent, "a"), feature(None, "a")]
    assert receiver.get_and_update_features(features) is features
    assert features[0].data is features[1].data is sent


@pytest.mark.clause("IF-14")
def test_an_item_without_keys_is_data() -> None:
    receiver = LruKeyReplicatedReceiverCache(model_config(10))
    empty = MultiModalKwargsItem({})
    features = receiver.get_and_update_features([feature(empty, "a"), feature(None, "a")])
    assert features[0].data is features[1].data is empty


@pytest.mark.clause("IT-10", "IF-13")
def test_a_feature_without_hash_is_cached_under_its_identifier(
    receiver: LruKeyReplicatedReceiverCache,
) -> None:
    receiver.get_and_update_features([feature(item(1), None, "identity"), feature(item(1), "hash", "other")])
    assert order(receiver) == ["identity", "hash"]


@pytest.mark.clause("IF-15", "IF-16")
def test_one_error_names_every_missing_key_and_the_rest_is_ingested(
    receiver: LruKeyReplicatedReceiverCache,
) -> None:
    features = [feature(item(1), "A"), feature(None, "B"), feature(item(2), "C")]
    features += [feature(None, "D"), feature(None, "E")]
    with pytest.raises(MultiModalCacheMissError) as raised:
        receiver.get_and_update_features(features)
    assert raised.value.mm_hashes == ["B", "D", "E"]
    assert order(receiver) == ["A", "C"]
    assert [f.data is None for f in features] == [False, True, False, True, True]


@pytest.mark.clause("IF-16")
def test_a_key_that_is_missing_twice_is_named_twice(receiver: LruKeyReplicatedReceiverCache) -> None:
    with pytest.raises(MultiModalCacheMissError) as raised:
        receiver.get_and_update_features([feature(None, "B"), feature(None, "A"), feature(None, "B")])
    assert raised.value.mm_hashes == ["B", "A", "B"]


@pytest.mark.clause("IF-15")
def test_a_later_feature_with_data_does_not_serve_an_earlier_one_without(
    receiver: LruKeyReplicatedReceiverCache,
) -> None:
    with pytest.raises(MultiModalCacheMissError) as raised:
        receiver.get_and_update_features([feature(None, "A"), feature(item(1), "A")])
    assert raised.value.mm_hashes == ["A"]
    assert order(receiver) == ["A"]


@pytest.mark.clause("IF-17")
def test_a_miss_error_names_the_hashes_and_what_to_do() -> None:
    error = MultiModalCacheMissError(["h1", "h2"])
    assert isinstance(error, RuntimeError)
    assert error.mm_hashes == ["h1", "h2"]
    assert "h1" in str(error)
    assert "h2" in str(error)
    assert "should be retried with the data attached" in str(error)


@pytest.mark.clause("IF-17")
def test_a_miss_error_crosses_a_process_boundary() -> None:
    error = MultiModalCacheMissError(["h1", "h2"])
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.mm_hashes, str(copied)) == (["h1", "h2"], str(error))


@pytest.mark.clause("IF-01", "IF-05", "IF-06", "IF-07", "IF-09")
def test_a_cache_must_define_what_depends_on_its_kind() -> None:
    common = {"get_and_update_item", "clear_cache"}
    assert BaseMultiModalCache.__abstractmethods__ == common
    assert BaseMultiModalReceiverCache.__abstractmethods__ == common | {"touch_receiver_cache_item"}
    assert BaseMultiModalProcessorCache.__abstractmethods__ == common | {
        "is_cached_item",
        "touch_sender_cache_item",
        "make_stats",
    }


@pytest.mark.clause("IT-17", "FA-11")
def test_a_budget_may_be_a_fraction_of_a_gibibyte() -> None:
    assert MultiModalCache.get_lru_cache(0.5, MultiModalKwargsItem).maxsize == 536_870_912
    tiny = MultiModalCache.get_lru_cache(3 / 2**30, MultiModalKwargsItem)
    assert (tiny.maxsize, len(tiny), tiny.currsize) == (3, 0, 0)
    assert tiny.put_if_fits("a", item(3))
    assert not tiny.put_if_fits("a", item(4))


@pytest.mark.clause("IT-12", "LRU-01")
def test_entries_are_charged_the_bytes_of_all_their_payloads() -> None:
    one = item_of(a1=np.zeros(100, np.uint8))
    two = item_of(a1=np.zeros(100, np.uint8), a2=np.zeros(110, np.uint8))
    other = item_of(b1=np.zeros(120, np.uint8), b2=np.zeros(130, np.uint8))
    cache = MultiModalCache.get_lru_cache(1, object)
    for value, size in [(one, 100), (two, 210), (MultiModalKwargsItems({"a": [two], "b": [other]}), 460)]:
        cache.clear()
        cache.put("key", value)
        assert cache.currsize == size
        cache.put("other", value)
        cache.put("key", value)
        assert cache.currsize == 2 * size


@pytest.mark.clause("LRU-14", "LRU-01")
def test_replacing_a_key_keeps_the_byte_count_exact() -> None:
    cache = MultiModalCache.get_lru_cache(1, MultiModalKwargsItem)
    for size in (100, 210, 460, 100):
        cache.put("key", item(size))
        assert cache.currsize == size


def keeps_payload() -> list[type]:
    return [MultiModalProcessorOnlyCache, LruKeyReplicatedReceiverCache]


def insert_and_read(cache: Any, given_item: MultiModalKwargsItem) -> tuple[Any, MultiModalKwargsItem]:
    """What an update that misses returns for the item, and what a later hit serves."""
    if isinstance(cache, BaseMultiModalReceiverCache):
        return cache.get_and_update_item(given_item, "h"), cache.get_and_update_item(None, "h")
    (returned, _), (served, _) = cache.get_and_update([(given_item, []), None], ["h", "h"])
    return returned, served


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("kind", keeps_payload())
def test_a_cached_view_of_an_array_does_not_keep_the_array_alive(kind: Callable[[Any], Any]) -> None:
    batch = np.empty((20, 10), np.uint8)
    batch[:] = np.arange(200).reshape(20, 10)
    alive = weakref.ref(batch)
    given_item = item_of(pixels=batch[3], label=7)
    cache = kind(model_config(1000))
    returned, served = insert_and_read(cache, given_item)
    assert returned is given_item
    assert returned["pixels"].data.base is batch
    assert served["pixels"].data.tolist() == list(range(30, 40))
    assert served["label"].data == 7
    del batch, returned, given_item
    gc.collect()
    assert alive() is None
    assert served["pixels"].data.tolist() == list(range(30, 40))


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("kind", keeps_payload())
def test_a_cached_view_of_a_tensor_keeps_only_its_own_bytes(kind: Callable[[Any], Any]) -> None:
    import torch

    batch = torch.arange(200, dtype=torch.uint8).reshape(20, 10)
    given_item = item_of(pixels=batch[3])
    returned, served = insert_and_read(kind(model_config(1000)), given_item)
    assert returned is given_item
    assert returned["pixels"].data.untyped_storage().nbytes() == 200
    assert served["pixels"].data.untyped_storage().nbytes() == 10
    assert served["pixels"].data.tolist() == list(range(30, 40))


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("kind", keeps_payload())
def test_detaching_changes_neither_size_nor_order(kind: Callable[[Any], Any]) -> None:
    cache = kind(model_config(10))
    insert_and_read(cache, item_of(pixels=np.zeros(100, np.uint8)[:4]))
    cache.get_and_update_item(given(cache, 6), "g")
    assert (order(cache), cache._cache.currsize) == (["h", "g"], 10)


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("kind", keeps_payload())
def test_an_item_that_owns_its_memory_is_kept_as_it_is(kind: Callable[[Any], Any]) -> None:
    given_item = item(4)
    returned, served = insert_and_read(kind(model_config(10)), given_item)
    assert returned is served is given_item
