"""The merge step of P0, by hand, on a budget of 10 bytes."""

from __future__ import annotations

from typing import Any

import pytest
from batched_items import item

from mmcache_ref.reference import (
    LruKeyReplicatedSenderCache,
    ModelConfig,
    MultiModalConfig,
    MultiModalKwargsItems,
    MultiModalProcessorOnlyCache,
    ResolvedPromptUpdate,
    merge_mm_kwargs,
)

CONFIG = ModelConfig(MultiModalConfig(mm_processor_cache_gb=10 / 2**30))


def update(modality: str, index: int, content: str = "") -> ResolvedPromptUpdate:
    return ResolvedPromptUpdate(modality, index, "insert", [], content)


class RecordingCache(MultiModalProcessorOnlyCache):
    """Writes down what the merge step calls; updates of the hash `bad` fail."""

    def __init__(self) -> None:
        super().__init__(CONFIG)
        self.calls: list[str] = []

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        self.calls.append(f"touch {mm_hash}")
        super().touch_sender_cache_item(mm_hash)

    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        self.calls.append(f"update {mm_hash} {'without' if mm_item is None else 'with'} data")
        if mm_hash == "bad":
            raise OSError("no memory")
        return super().get_and_update_item(mm_item, mm_hash)

    def release_sender_touches(self) -> None:
        self.calls.append("release")
        super().release_sender_touches()


def order(cache: Any) -> list[str]:
    return list(cache._cache.order)


def fill(cache: Any, **sizes: int) -> None:
    for key, size in sizes.items():
        cache.get_and_update_item((item(size), [update("image", 0, key)]), key)


@pytest.mark.clause("IF-10", "IF-11", "DR-03")
def test_every_hash_is_touched_before_any_is_updated_and_the_touches_end() -> None:
    cache = RecordingCache()
    fill(cache, b=1)
    cache.calls.clear()
    merge_mm_kwargs(
        cache,
        {"image": ["a", "b"], "video": ["c"]},
        {"image": [False, True], "video": [False]},
        MultiModalKwargsItems({"video": [item(1)], "image": [item(1)]}),
        {"image": [[update("image", 0)]], "video": [[update("video", 0)]]},
    )
    assert cache.calls == [
        "touch a",
        "touch b",
        "touch c",
        "update a with data",
        "update b without data",
        "update c with data",
        "release",
    ]
    assert order(cache) == ["a", "b", "c"]


@pytest.mark.clause("IF-10")
def test_a_cached_member_is_not_the_victim_of_a_new_one() -> None:
    cache = LruKeyReplicatedSenderCache(CONFIG)
    fill(cache, A=4, B=4)
    (items, _) = merge_mm_kwargs(
        cache,
        {"image": ["C", "A"]},
        {"image": [False, True]},
        MultiModalKwargsItems({"image": [item(4)]}),
        {"image": [[]]},
    )
    assert items["image"][1] is None
    assert order(cache) == ["C", "A"]


@pytest.mark.clause("IF-11", "IF-12")
def test_each_missing_item_goes_with_its_own_hash_in_the_order_of_the_request() -> None:
    cache = MultiModalProcessorOnlyCache(CONFIG)
    fill(cache, cached=1)
    first, second, film = item(1), item(2), item(3)
    items, updates = merge_mm_kwargs(
        cache,
        {"video": ["film"], "image": ["first", "cached", "second"]},
        {"image": [False, True, False], "video": [False]},
        MultiModalKwargsItems({"image": [first, second], "video": [film]}),
        {"image": [[update("image", 0, "1st")], [update("image", 1, "2nd")]], "video": [[]]},
    )
    assert list(items) == ["video", "image"]
    assert items["video"][0] is film
    assert items["image"][0] is first
    assert items["image"][2] is second
    assert updates == {
        "video": [[]],
        "image": [
            [update("image", 0, "1st")],
            [update("image", 1, "cached")],
            [update("image", 2, "2nd")],
        ],
    }


@pytest.mark.clause("IF-12")
def test_a_hit_in_the_sender_sends_nothing_but_its_prompt_updates_at_their_new_place() -> None:
    cache = LruKeyReplicatedSenderCache(CONFIG)
    fill(cache, a=1, b=1)
    items, updates = merge_mm_kwargs(
        cache, {"image": ["b", "a"]}, {"image": [True, True]}, MultiModalKwargsItems({}), {}
    )
    assert items == {"image": [None, None]}
    assert updates == {"image": [[update("image", 0, "b")], [update("image", 1, "a")]]}
    assert isinstance(items, MultiModalKwargsItems)


@pytest.mark.clause("IF-12")
def test_the_cached_prompt_updates_keep_their_own_number() -> None:
    cache = LruKeyReplicatedSenderCache(CONFIG)
    fill(cache, a=1)
    for hashes in (["a", "a", "a"], ["a"]):
        _, updates = merge_mm_kwargs(
            cache, {"image": hashes}, {"image": [True] * 3}, MultiModalKwargsItems({}), {}
        )
        assert [u.item_idx for [u] in updates["image"]] == list(range(len(hashes)))
    assert cache._cache.cache["a"].prompt_updates[0].item_idx == 0


@pytest.mark.clause("IF-11")
def test_a_hash_that_is_missing_twice_is_supplied_twice_and_cached_once() -> None:
    cache = MultiModalProcessorOnlyCache(CONFIG)
    once, again = item(2), item(2)
    items, _ = merge_mm_kwargs(
        cache,
        {"image": ["a", "a"]},
        {"image": [False, False]},
        MultiModalKwargsItems({"image": [once, again]}),
        {"image": [[], []]},
    )
    assert items["image"][0] is items["image"][1] is once
    assert (order(cache), cache.make_stats()) == (["a"], (1, 2))


@pytest.mark.clause("IF-11")
def test_a_request_without_items_touches_and_updates_nothing() -> None:
    cache = RecordingCache()
    no_items: list[Any] = [{}, {"image": []}]
    for hashes in no_items:
        items, updates = merge_mm_kwargs(cache, hashes, {"image": []}, MultiModalKwargsItems({}), {})
        assert (len(items), len(updates)) == (0, 0)
    assert set(cache.calls) == {"release"}


@pytest.mark.clause("DR-02", "IF-18")
@pytest.mark.parametrize(
    ("items", "updates"),
    [({}, {"image": [[], []]}), ({"image": [item(1)]}, {"image": [[], []]}), ({"image": [item(1)] * 2}, {})],
    ids=["no items", "too few items", "no prompt updates"],
)
def test_a_request_with_an_item_that_nobody_supplies_is_refused_before_anything_changes(
    items: Any, updates: Any
) -> None:
    cache = RecordingCache()
    fill(cache, a=1, b=1)
    cache.calls.clear()
    with pytest.raises(IndexError, match="2 items of modality 'image' are not cached"):
        merge_mm_kwargs(
            cache,
            {"image": ["a", "x", "y"]},
            {"image": [True, False, False]},
            MultiModalKwargsItems(items),
            updates,
        )
    assert (cache.calls, order(cache), cache.make_stats()) == ([], ["a", "b"], (0, 2))


@pytest.mark.clause("DR-02")
@pytest.mark.parametrize(("checks", "error"), [({}, KeyError), ({"image": [True]}, IndexError)])
def test_a_request_that_was_not_checked_is_refused_before_anything_changes(
    checks: Any, error: type[Exception]
) -> None:
    cache = RecordingCache()
    fill(cache, a=1, b=1)
    cache.calls.clear()
    with pytest.raises(error):
        merge_mm_kwargs(cache, {"image": ["a", "b"]}, checks, MultiModalKwargsItems({}), {})
    assert (cache.calls, order(cache)) == ([], ["a", "b"])


@pytest.mark.clause("DR-03")
def test_the_touches_end_also_when_an_update_fails() -> None:
    cache = RecordingCache()
    fill(cache, a=1)
    with pytest.raises(OSError, match="no memory"):
        merge_mm_kwargs(
            cache, {"image": ["a", "bad"]}, {"image": [True, True]}, MultiModalKwargsItems({}), {}
        )
    assert cache.calls[-1] == "release"
    assert cache._promises._entries == {}


@pytest.mark.clause("DR-03", "PO-03")
def test_the_touches_end_also_when_a_checked_item_is_gone() -> None:
    cache = RecordingCache()
    with pytest.raises(AssertionError, match="gone"):
        merge_mm_kwargs(cache, {"image": ["gone"]}, {"image": [True]}, MultiModalKwargsItems({}), {})
    assert cache.calls == ["touch gone", "update gone without data", "release"]


@pytest.mark.clause("DR-12", "PO-07", "KR-13")
@pytest.mark.parametrize("kind", [MultiModalProcessorOnlyCache, LruKeyReplicatedSenderCache])
def test_a_request_larger_than_the_budget_is_merged(kind: Any) -> None:
    cache = kind(CONFIG)
    fill(cache, A=4)
    for _ in range(2):
        merge_mm_kwargs(
            cache,
            {"image": ["B", "A"]},
            {"image": cache.is_cached(["B", "A"])},
            MultiModalKwargsItems({"image": [item(7)]}),
            {"image": [[]]},
        )
        assert order(cache) == ["A"]
