"""The byte-budgeted LRU, by hand: a value is its own size, a budget of 6 holds a, b, c of 2 each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mmcache_ref.reference.lru import CacheInfo, LRUCache

pytestmark = pytest.mark.timeout(30)


def lru(capacity: float = 6, **sizes: float) -> LRUCache[str, Any]:
    """A cache of `capacity` with one entry for each keyword, in order."""
    cache: LRUCache[str, Any] = LRUCache(capacity, getsizeof=lambda value: value)
    for key, size in sizes.items():
        cache.put(key, size)
    return cache


def abc() -> LRUCache[str, Any]:
    return lru(a=2, b=2, c=2)


def order(cache: LRUCache[str, Any]) -> str:
    return "".join(cache.order)


def assert_untouched(cache: LRUCache[str, Any]) -> None:
    """`cache` is still as `abc()` made it."""
    assert order(cache) == "abc"
    assert dict(cache.cache) == {"a": 2, "b": 2, "c": 2}
    assert cache.currsize == 6
    assert cache.stat() == (0, 0)
    assert cache.pinned_items == set()


@pytest.mark.clause("IT-11")
def test_a_hit_ratio_is_hits_per_lookup_and_zero_without_lookups() -> None:
    assert CacheInfo(3, 4).hit_ratio == 0.75
    assert CacheInfo(0, 0).hit_ratio == 0


@pytest.mark.clause("IT-11")
def test_counters_subtract_component_by_component() -> None:
    assert CacheInfo(5, 8) - CacheInfo(2, 4) == CacheInfo(hits=3, total=4)


@pytest.mark.clause("LRU-01")
def test_the_size_in_use_is_the_sum_of_the_sizes_of_the_values() -> None:
    cache = lru(10, a=1, b=2, c=4)
    assert cache.currsize == 7
    cache.pop("b")
    assert cache.currsize == 5


@pytest.mark.clause("LRU-01", "LRU-13")
@pytest.mark.parametrize("size", range(7))
def test_the_size_in_use_never_exceeds_the_budget(size: int) -> None:
    cache = abc()
    cache.put("d", size)
    assert cache.currsize <= 6
    assert cache.currsize == sum(cache.cache.values())


@pytest.mark.clause("LRU-01")
def test_each_value_counts_one_without_a_size_function() -> None:
    cache: LRUCache[str, str] = LRUCache(2)
    for key in "abc":
        cache.put(key, "a long value")
    assert (list(cache.order), cache.currsize) == (["b", "c"], 2)


@pytest.mark.clause("LRU-01")
def test_a_value_that_grows_in_place_is_charged_what_it_weighed_when_it_was_stored() -> None:
    cache: LRUCache[str, list[int]] = LRUCache(6, getsizeof=len)
    growing = [1, 2]
    cache.put("a", growing)
    growing.extend([3, 4, 5])
    cache.put("b", [1, 2, 3])
    assert (list(cache.order), cache.currsize) == (["a", "b"], 5)
    cache.pop("a")
    assert cache.currsize == 3


@pytest.mark.clause("LRU-01", "LRU-18")
def test_an_empty_cache_weighs_exactly_nothing_also_with_fractional_sizes() -> None:
    cache = lru(0.6, a=0.1, b=0.2, c=0.3)
    for key in "abc":
        cache.pop(key)
    assert cache.currsize == 0
    assert cache.put_if_fits("d", 0.6)


@pytest.mark.clause("LRU-01")
@pytest.mark.parametrize("size", [-1, float("nan")])
def test_a_size_that_is_no_size_is_refused_and_changes_nothing(size: float) -> None:
    cache = abc()
    with pytest.raises(ValueError, match="0 or more"):
        cache.put("a", size)
    with pytest.raises(ValueError, match="0 or more"):
        cache.put_if_fits("d", size)
    assert_untouched(cache)


@pytest.mark.clause("LRU-01")
@pytest.mark.parametrize("capacity", [-1, float("nan")])
def test_a_budget_that_is_no_budget_is_refused(capacity: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        LRUCache(capacity)


@pytest.mark.clause("LRU-02", "LRU-29")
def test_order_and_values_show_the_same_keys_from_least_to_most_recent() -> None:
    cache = abc()
    cache.touch("a")
    assert list(cache.order) == ["b", "c", "a"]
    assert list(cache.cache) == ["b", "c", "a"]
    assert list(cache) == list(cache.keys()) == ["b", "c", "a"]


@pytest.mark.clause("LRU-03")
def test_capacity_is_the_budget_and_usage_the_part_in_use() -> None:
    cache = lru(8, a=2)
    assert (cache.capacity, cache.maxsize, cache.usage) == (8, 8, 0.25)
    assert lru(2.5).capacity == 2.5


@pytest.mark.clause("LRU-03")
def test_usage_of_a_budget_of_zero_is_zero() -> None:
    cache = lru(0, a=0)
    assert (len(cache), cache.usage) == (1, 0)


@pytest.mark.clause("LRU-04")
def test_asking_for_membership_or_length_neither_reorders_nor_counts() -> None:
    cache = abc()
    assert "a" in cache
    assert "z" not in cache
    assert len(cache) == 3
    assert_untouched(cache)


@pytest.mark.clause("LRU-05")
def test_subscripting_a_cached_key_makes_it_most_recent_and_counts_a_hit() -> None:
    cache = abc()
    assert cache["a"] == 2
    assert (order(cache), cache.stat()) == ("bca", (1, 1))


@pytest.mark.clause("LRU-05")
def test_subscripting_without_info_makes_the_key_most_recent_and_counts_nothing() -> None:
    cache = abc()
    assert cache.__getitem__("a", update_info=False) == 2  # type: ignore[call-arg]
    assert (order(cache), cache.stat()) == ("bca", (0, 0))


@pytest.mark.clause("LRU-06")
def test_subscripting_an_absent_key_raises_and_counts_nothing() -> None:
    cache = abc()
    with pytest.raises(KeyError):
        cache["z"]
    assert_untouched(cache)


@pytest.mark.clause("LRU-07")
def test_getting_a_cached_key_makes_it_most_recent_and_counts_a_hit() -> None:
    cache = abc()
    assert cache.get("b") == 2
    assert (order(cache), cache.stat()) == ("acb", (1, 1))


@pytest.mark.clause("LRU-08")
def test_getting_an_absent_key_returns_the_default_and_counts_a_miss() -> None:
    cache = abc()
    assert cache.get("z") is None
    assert cache.get("z", 9) == 9
    assert cache.get("z", default=7) == 7
    assert (order(cache), cache.stat()) == ("abc", (0, 3))


@pytest.mark.clause("LRU-07")
def test_a_cached_none_is_a_hit() -> None:
    cache: LRUCache[str, None] = LRUCache(2)
    cache.put("a", None)
    assert cache.get("a", 5) is None
    assert cache.stat() == (1, 1)


@pytest.mark.clause("LRU-09")
def test_a_touch_makes_a_cached_key_most_recent_and_counts_nothing() -> None:
    cache = abc()
    cache.touch("a")
    assert (order(cache), cache.stat()) == ("bca", (0, 0))


@pytest.mark.clause("LRU-10", "LRU-02", "LRU-18")
def test_a_touch_of_an_absent_key_leaves_no_ghost() -> None:
    cache = abc()
    cache.touch("z")
    assert_untouched(cache)
    cache.put("d", 6)
    assert order(cache) == "d"


@pytest.mark.clause("LRU-11")
def test_popping_removes_a_key_and_counts_nothing() -> None:
    cache = abc()
    assert cache.pop("a") == 2
    assert (order(cache), cache.currsize, cache.stat()) == ("bc", 4, (0, 0))


@pytest.mark.clause("LRU-11")
def test_popping_an_absent_key_returns_the_default() -> None:
    cache = abc()
    assert cache.pop("z") is None
    assert cache.pop("z", 5) == 5
    assert cache.pop("z", default=6) == 6
    assert_untouched(cache)


@pytest.mark.clause("LRU-12")
def test_deleting_removes_a_key_and_an_absent_one_raises() -> None:
    cache = abc()
    del cache["b"]
    assert (order(cache), cache.currsize, cache.stat()) == ("ac", 4, (0, 0))
    with pytest.raises(KeyError):
        del cache["b"]
    assert (order(cache), cache.currsize) == ("ac", 4)


@pytest.mark.clause("LRU-13")
@pytest.mark.parametrize(("size", "expected"), [(0, "abcd"), (1, "bcd"), (2, "bcd"), (3, "cd"), (6, "d")])
def test_an_insertion_evicts_the_oldest_only_while_it_does_not_fit(size: int, expected: str) -> None:
    cache = abc()
    cache.put("d", size)
    assert (order(cache), cache.stat()) == (expected, (0, 0))


@pytest.mark.clause("LRU-13")
def test_assigning_to_a_key_is_an_insertion() -> None:
    cache = abc()
    cache["d"] = 3
    assert order(cache) == "cd"
    with pytest.raises(ValueError, match="value too large"):
        cache["e"] = 7


@pytest.mark.clause("LRU-14")
@pytest.mark.parametrize(("size", "in_use"), [(0, 4), (1, 5), (2, 6)])
def test_replacing_by_a_value_that_is_no_larger_charges_the_difference_and_evicts_nothing(
    size: int, in_use: int
) -> None:
    cache = abc()
    cache.put("a", size)
    assert (order(cache), cache.cache["a"], cache.currsize) == ("bca", size, in_use)


@pytest.mark.clause("LRU-14")
@pytest.mark.parametrize(("key", "expected"), [("a", "bca"), ("b", "acb"), ("c", "abc")])
def test_replacing_by_a_value_of_the_same_size_evicts_nothing(key: str, expected: str) -> None:
    cache = abc()
    cache.put(key, 2)
    assert (order(cache), cache.currsize) == (expected, 6)


@pytest.mark.clause("LRU-14")
def test_replacing_by_a_larger_value_that_fits_beside_the_old_one_evicts_nothing() -> None:
    cache = lru(9, a=2, b=2)
    cache.put("a", 5)
    assert (order(cache), cache.currsize) == ("ba", 7)


@pytest.mark.clause("LRU-15")
@pytest.mark.parametrize(
    ("key", "size", "expected"),
    [("a", 3, "ca"), ("a", 4, "ca"), ("b", 3, "cb"), ("c", 3, "c"), ("c", 4, "c")],
)
def test_replacing_by_a_larger_value_evicts_while_the_old_one_still_counts(
    key: str, size: int, expected: str
) -> None:
    cache = abc()
    cache.put(key, size)
    assert (order(cache), cache.cache[key]) == (expected, size)
    assert cache.currsize == sum(cache.cache.values())


@pytest.mark.clause("LRU-15")
def test_the_replaced_value_itself_may_be_the_victim() -> None:
    cache = lru(6, a=4)
    cache.put("a", 5)
    assert (dict(cache.cache), cache.currsize) == ({"a": 5}, 5)


@pytest.mark.clause("LRU-16")
@pytest.mark.parametrize("key", ["a", "d"])
def test_putting_a_value_larger_than_the_budget_raises_and_changes_nothing(key: str) -> None:
    cache = abc()
    with pytest.raises(ValueError, match="value too large"):
        cache.put(key, 7)
    assert_untouched(cache)


@pytest.mark.clause("LRU-17")
def test_a_value_that_fits_is_put() -> None:
    cache = abc()
    assert cache.put_if_fits("d", 3) is True
    assert (order(cache), cache.stat()) == ("cd", (0, 0))


@pytest.mark.clause("LRU-17")
@pytest.mark.parametrize("key", ["a", "d"])
def test_a_value_that_does_not_fit_is_refused_and_changes_nothing(key: str) -> None:
    cache = abc()
    assert cache.put_if_fits(key, 7) is False
    assert_untouched(cache)


@pytest.mark.clause("LRU-16", "LRU-17")
@pytest.mark.parametrize("insert", ["put", "put_if_fits"])
def test_a_size_function_that_raises_changes_nothing(insert: str) -> None:
    def size_of(value: int) -> int:
        if value == 5:
            raise ValueError("no size")
        return value

    cache: LRUCache[str, int] = LRUCache(6, getsizeof=size_of)
    for key in "abc":
        cache.put(key, 2)
    with pytest.raises(ValueError, match="no size"):
        getattr(cache, insert)("a", 5)
    assert_untouched(cache)


@pytest.mark.clause("LRU-13")
def test_an_unhashable_key_changes_nothing() -> None:
    cache: Any = abc()
    with pytest.raises(TypeError, match="unhashable"):
        cache.put([], 6)
    assert_untouched(cache)


@pytest.mark.clause("LRU-18")
def test_eviction_ends_also_when_the_account_is_wrong() -> None:
    cache = abc()
    cache._currsize = 1000
    cache.put("d", 6)
    assert (order(cache), cache.currsize) == ("d", 6)


@pytest.mark.clause("LRU-18")
def test_eviction_ends_also_when_entries_vanish_behind_its_back() -> None:
    cache = abc()
    cache._entries.clear()
    with pytest.raises(RuntimeError, match="All items are pinned"):
        cache.put("d", 6)


@pytest.mark.clause("LRU-18", "LRU-22")
def test_eviction_ends_also_when_an_absent_key_is_pinned() -> None:
    cache = abc()
    cache.pinned_items.add("ghost")
    cache.put("d", 6)
    assert order(cache) == "d"


@pytest.mark.clause("LRU-19")
def test_a_pinned_key_is_passed_over_by_eviction() -> None:
    cache = abc()
    cache.pin("a")
    assert (order(cache), cache.stat()) == ("abc", (0, 0))
    cache.put("d", 3)
    assert (order(cache), cache.currsize) == ("ad", 5)


@pytest.mark.clause("LRU-19", "LRU-15")
def test_growing_a_key_passes_over_pinned_ones() -> None:
    cache = abc()
    cache.pin("b")
    cache.put("c", 4)
    assert (order(cache), cache.currsize) == ("bc", 6)


@pytest.mark.clause("LRU-20")
def test_pinning_an_absent_key_raises_and_changes_nothing() -> None:
    cache = abc()
    with pytest.raises(ValueError, match="Cannot pin key"):
        cache.pin("z")
    assert_untouched(cache)


@pytest.mark.clause("LRU-21")
@pytest.mark.parametrize("insert", ["put", "put_if_fits"])
def test_an_eviction_that_finds_only_pins_raises_and_what_went_before_is_gone(insert: str) -> None:
    cache = abc()
    cache.pin("a")
    cache.pin("c")
    with pytest.raises(RuntimeError, match="All items are pinned"):
        getattr(cache, insert)("d", 4)
    assert (order(cache), cache.currsize) == ("ac", 4)


@pytest.mark.clause("LRU-21", "LRU-15")
def test_a_pinned_key_that_would_have_to_evict_itself_keeps_its_value() -> None:
    cache = lru(6, a=5)
    cache.pin("a")
    with pytest.raises(RuntimeError, match="All items are pinned"):
        cache.put("a", 6)
    assert (dict(cache.cache), cache.currsize, cache.pinned_items) == ({"a": 5}, 5, {"a"})


@pytest.mark.clause("LRU-22")
@pytest.mark.parametrize(
    "leave",
    [
        lambda cache: cache.pop("a"),
        lambda cache: cache.__delitem__("a"),
        lambda cache: cache.popitem(remove_pinned=True),
        lambda cache: cache.remove_oldest(remove_pinned=True),
        lambda cache: cache.clear(),
    ],
    ids=["pop", "del", "popitem", "remove_oldest", "clear"],
)
def test_a_key_that_leaves_is_no_longer_pinned(leave: Callable[[LRUCache[str, Any]], object]) -> None:
    cache = abc()
    cache.pin("a")
    leave(cache)
    assert cache.pinned_items == set()
    cache.put("a", 1)
    cache.put("z", 6)
    assert order(cache) == "z"


@pytest.mark.clause("LRU-22")
def test_a_replaced_key_stays_pinned() -> None:
    cache = abc()
    cache.pin("a")
    cache.put("a", 1)
    cache.put("d", 5)
    assert order(cache) == "ad"


@pytest.mark.clause("LRU-23")
def test_the_oldest_unpinned_key_is_removed() -> None:
    cache = abc()
    cache.pin("a")
    assert cache.remove_oldest() is None  # type: ignore[func-returns-value]
    assert (order(cache), cache.currsize, cache.stat()) == ("ac", 4, (0, 0))


@pytest.mark.clause("LRU-23")
def test_the_oldest_key_is_removed_when_pins_are_not_respected() -> None:
    cache = abc()
    cache.pin("a")
    cache.remove_oldest(remove_pinned=True)
    assert order(cache) == "bc"


@pytest.mark.clause("LRU-23")
@pytest.mark.parametrize("remove_pinned", [False, True])
def test_removing_the_oldest_of_an_empty_cache_does_nothing(remove_pinned: bool) -> None:
    cache = lru()
    cache.remove_oldest(remove_pinned=remove_pinned)
    assert len(cache) == 0


@pytest.mark.clause("LRU-23", "LRU-21")
def test_removing_the_oldest_raises_when_all_are_pinned() -> None:
    cache = lru(a=1)
    cache.pin("a")
    with pytest.raises(RuntimeError, match="All items are pinned"):
        cache.remove_oldest()


@pytest.mark.clause("LRU-24")
def test_popitem_returns_the_pair_that_it_removes() -> None:
    cache = lru(a=1, b=2, c=3)
    cache.pin("a")
    assert cache.popitem() == ("b", 2)
    assert cache.popitem(remove_pinned=True) == ("a", 1)
    assert (order(cache), cache.currsize, cache.stat()) == ("c", 3, (0, 0))


@pytest.mark.clause("LRU-25")
def test_popitem_of_an_empty_cache_raises() -> None:
    with pytest.raises(RuntimeError, match="All items are pinned"):
        lru().popitem()
    with pytest.raises(KeyError):
        lru().popitem(remove_pinned=True)


@pytest.mark.clause("LRU-26")
def test_a_clear_removes_everything_and_resets_the_counters() -> None:
    cache = abc()
    cache.pin("a")
    cache.get("a")
    cache.stat(delta=True)
    cache.clear()
    assert (len(cache), cache.currsize, cache.pinned_items) == (0, 0, set())
    assert cache.stat() == cache.stat(delta=True) == (0, 0)


@pytest.mark.clause("LRU-27")
def test_counters_run_on_from_the_start() -> None:
    cache = abc()
    cache.get("a")
    cache.get("z")
    cache["b"]
    assert cache.stat() == cache.stat() == CacheInfo(hits=2, total=3)


@pytest.mark.clause("LRU-28")
def test_a_delta_is_what_was_counted_since_the_last_delta() -> None:
    cache = abc()
    cache.get("a")
    cache.get("z")
    cache.stat()
    assert cache.stat(delta=True) == CacheInfo(1, 2)
    assert cache.stat(delta=True) == CacheInfo(0, 0)
    cache.get("z")
    assert cache.stat(delta=True) == CacheInfo(0, 1)


@pytest.mark.clause("LRU-28")
def test_a_delta_after_a_clear_starts_at_zero() -> None:
    cache = abc()
    cache.get("a")
    cache.stat(delta=True)
    cache.clear()
    cache.get("z")
    assert cache.stat(delta=True) == CacheInfo(0, 1)


@pytest.mark.clause("LRU-29")
def test_reading_the_contents_neither_reorders_nor_counts() -> None:
    cache = abc()
    assert cache.cache["a"] == 2
    assert cache.cache.get("z") is None
    assert list(cache.cache.items()) == list(cache.items()) == [("a", 2), ("b", 2), ("c", 2)]
    assert list(cache.values()) == [2, 2, 2]
    assert dict(cache.order) == {"a": None, "b": None, "c": None}
    assert ("a" in cache.order, "z" in cache.order, "a" in cache.cache) == (True, False, True)
    assert cache == {"a": 2, "b": 2, "c": 2}
    assert repr(cache) == "LRUCache({'a': 2, 'b': 2, 'c': 2}, maxsize=6, currsize=6)"
    assert_untouched(cache)


@pytest.mark.clause("LRU-29")
def test_the_contents_are_live_views_that_cannot_be_written_to() -> None:
    cache = abc()
    values: Any = cache.cache
    keys: Any = cache.order
    cache.put("d", 1)
    assert (list(values.values()), list(keys), len(keys)) == ([2, 2, 1], ["b", "c", "d"], 3)
    for view in (values, keys):
        with pytest.raises(TypeError):
            view["x"] = 1
        with pytest.raises(TypeError):
            del view["b"]
    with pytest.raises(KeyError):
        keys["x"]


@pytest.mark.clause("LRU-30")
def test_setdefault_looks_up_or_inserts() -> None:
    cache = abc()
    assert cache.setdefault("a", 1) == 2
    assert (order(cache), cache.stat()) == ("bca", (1, 1))
    assert cache.setdefault("z", 3) == 3
    assert (order(cache), cache.stat()) == ("az", (1, 1))


@pytest.mark.clause("LRU-30")
def test_update_inserts_one_by_one() -> None:
    cache = abc()
    cache.update({"d": 1}, e=1)
    assert (order(cache), cache.stat()) == ("bcde", (0, 0))
    with pytest.raises(ValueError, match="value too large"):
        cache.update([("f", 1), ("g", 7), ("h", 1)])
    assert order(cache) == "cdef"
