"""The processor-only cache, by hand, with a budget of 10 bytes."""

from __future__ import annotations

from typing import Any

import pytest
from batched_items import item

from mmcache_ref.reference import (
    ModelConfig,
    MultiModalConfig,
    MultiModalProcessorOnlyCache,
)


def pair(nbytes: int, *updates: Any) -> Any:
    return item(nbytes), list(updates)


def order(cache: MultiModalProcessorOnlyCache) -> str:
    return "".join(cache._cache.order)


def filled(**sizes: int) -> tuple[Any, dict[str, Any]]:
    """A cache of 10 bytes with these entries, and what was given for each."""
    cache = MultiModalProcessorOnlyCache(ModelConfig(MultiModalConfig(mm_processor_cache_gb=10 / 2**30)))
    pairs = {key: pair(size, f"update of {key}") for key, size in sizes.items()}
    for key, value in pairs.items():
        cache.get_and_update_item(value, key)
    return cache, pairs


@pytest.mark.clause("PO-01")
@pytest.mark.parametrize("given", [None, pair(3, "another")], ids=["without data", "with data"])
def test_a_hit_returns_the_cached_pair(given: Any) -> None:
    cache, pairs = filled(a=4, b=4)
    served, updates = cache.get_and_update_item(given, "a")
    assert served is pairs["a"][0]
    assert updates == ["update of a"]
    assert (order(cache), cache.make_stats()) == ("ba", (1, 3))


@pytest.mark.clause("PO-02")
def test_a_miss_returns_the_very_input_and_stores_it() -> None:
    cache, _ = filled(a=4, b=4)
    given = pair(4)
    assert cache.get_and_update_item(given, "c") is given
    assert (order(cache), cache._cache.currsize, cache.make_stats()) == ("bc", 8, (0, 3))


@pytest.mark.clause("PO-03")
def test_a_miss_without_data_names_the_hash_and_leaves_the_entries() -> None:
    cache, _ = filled(a=4, b=4)
    with pytest.raises(AssertionError, match="some-hash"):
        cache.get_and_update_item(None, "some-hash")
    assert (order(cache), cache.make_stats()) == ("ab", (0, 3))


@pytest.mark.clause("PO-04")
def test_an_item_larger_than_the_budget_is_served_and_evicts_nothing() -> None:
    cache, _ = filled(a=4, b=4)
    given = pair(11)
    assert cache.get_and_update_item(given, "c") is given
    assert cache.get_and_update_item(given, "c") is given
    assert (order(cache), cache.make_stats()) == ("ab", (0, 4))


@pytest.mark.clause("PO-05")
def test_an_entry_is_charged_its_item_and_not_its_prompt_updates() -> None:
    cache, _ = filled()
    cache.get_and_update_item((item(10), ["x" * 1000] * 50), "a")
    assert (order(cache), cache._cache.currsize) == ("a", 10)


@pytest.mark.clause("PO-06")
def test_statistics_count_updates_only() -> None:
    cache, _ = filled(a=1)
    cache.is_cached(["a", "b"])
    cache.touch_sender_cache_item("a")
    cache.release_sender_touches()
    assert cache.make_stats() == (0, 1)
    cache.get_and_update_item(None, "a")
    assert cache.make_stats() == (1, 2)


@pytest.mark.clause("PO-01", "PO-02")
def test_a_hash_that_a_request_repeats_hits_the_second_time() -> None:
    cache, _ = filled()
    given = pair(4)
    first, second = cache.get_and_update([given, given], ["a", "a"])
    assert first is given
    assert second[0] is given[0]
    assert cache.make_stats() == (1, 2)


def touched(cache: MultiModalProcessorOnlyCache, keys: str) -> None:
    for key in keys:
        cache.touch_sender_cache_item(key)


@pytest.mark.clause("PO-07", "DR-12")
def test_what_a_request_itself_pushed_out_is_served_and_stored_again() -> None:
    cache, pairs = filled(A=4)
    touched(cache, "BA")
    big = pair(7)
    assert cache.get_and_update_item(big, "B") is big
    assert order(cache) == "B"
    served, updates = cache.get_and_update_item(None, "A")
    assert served is pairs["A"][0]
    assert updates == ["update of A"]
    assert (order(cache), cache._cache.currsize, cache.make_stats()) == ("A", 4, (1, 3))


@pytest.mark.clause("PO-07")
def test_a_promised_key_is_served_as_often_as_the_request_repeats_it() -> None:
    cache, pairs = filled(A=4)
    touched(cache, "BACA")
    inputs = [pair(7), None, pair(7), None]
    outputs = cache.get_and_update(inputs, ["B", "A", "C", "A"])
    assert outputs[1][0] is outputs[3][0] is pairs["A"][0]
    assert (order(cache), cache.make_stats()) == ("A", (2, 5))


@pytest.mark.clause("PO-07")
def test_a_key_that_was_not_cached_at_its_touch_is_not_promised() -> None:
    cache, _ = filled()
    touched(cache, "AB")
    cache.get_and_update_item(pair(7), "A")
    cache.get_and_update_item(pair(7), "B")
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")


@pytest.mark.clause("PO-08")
def test_a_promise_ends_when_the_touches_are_released() -> None:
    cache, _ = filled(A=4)
    touched(cache, "BA")
    cache.get_and_update_item(pair(7), "B")
    cache.release_sender_touches()
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")
    assert (order(cache), cache.make_stats()) == ("B", (0, 3))


@pytest.mark.clause("PO-07", "PO-08")
@pytest.mark.parametrize("given", [None, pair(7)], ids=["after a hit", "after an insertion"])
def test_a_promise_ends_with_the_first_touch_after_an_update(given: Any) -> None:
    cache, _ = filled(A=4, C=4)
    touched(cache, "CA")
    cache.get_and_update_item(given, "C" if given is None else "B")
    touched(cache, "D")
    cache.get_and_update_item(pair(10), "D")
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")


@pytest.mark.clause("PO-07", "PO-08")
def test_a_hit_with_data_is_an_update_too() -> None:
    cache, _ = filled(A=4, C=4)
    touched(cache, "CA")
    cache.get_and_update_item(pair(4), "C")
    touched(cache, "D")
    cache.get_and_update_item(pair(10), "D")
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")


@pytest.mark.clause("PO-01", "PO-07")
def test_data_for_a_cached_key_is_not_stored_and_leaves_the_promise() -> None:
    cache, pairs = filled(A=4)
    touched(cache, "A")
    cache.get_and_update_item(pair(3), "A")
    cache.get_and_update_item(pair(10), "B")
    output = cache.get_and_update_item(None, "A")
    assert output[0] is pairs["A"][0]


@pytest.mark.clause("PO-07")
def test_touches_before_any_update_belong_to_one_request() -> None:
    cache, pairs = filled(A=4)
    touched(cache, "AXYZ")
    cache.get_and_update_item(pair(10), "X")
    output = cache.get_and_update_item(None, "A")
    assert output[0] is pairs["A"][0]


@pytest.mark.clause("PO-08")
@pytest.mark.parametrize("nbytes", [5, 11], ids=["that fits", "that does not fit"])
def test_new_data_takes_the_place_of_what_was_promised(nbytes: int) -> None:
    cache, _ = filled(A=4)
    touched(cache, "A")
    cache.get_and_update_item(pair(10), "B")
    new = pair(nbytes)
    assert cache.get_and_update_item(new, "A") is new
    cache.get_and_update_item(pair(10), "C")
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")


@pytest.mark.clause("PO-08", "IF-05")
def test_a_clear_ends_every_promise() -> None:
    cache, _ = filled(A=4)
    touched(cache, "A")
    cache.clear_cache()
    with pytest.raises(AssertionError, match="A"):
        cache.get_and_update_item(None, "A")
    assert (order(cache), cache.make_stats()) == ("", (0, 1))


@pytest.mark.clause("PO-08")
def test_no_item_is_held_for_a_request_that_is_over() -> None:
    cache, _ = filled(A=4)
    touched(cache, "A")
    cache.release_sender_touches()
    assert cache._promises._entries == {}
