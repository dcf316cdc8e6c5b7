"""Operations, results and states in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mmcache_ref.model import factories, items, lru, receiver
from mmcache_ref.model import processor_cache as p0
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.run import Step, plain
from mmcache_ref.oracle.wording import claimed_keys, operation_in_words, outcome_in_words, results_in_words


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (lru.Put("a", Content(3, 7)), "put a 3 B/7"),
        (lru.Stat(), "stat"),
        (lru.Stat(delta=True), "stat delta=True"),
        (receiver.Update("a"), "update a without data"),
        (p0.Update("a", Content(2, 1)), "update a 2 B/1"),
        (factories.Make("worker", factories.Configuration(5)), "make worker (5 B, lru)"),
        (
            factories.Make("worker", factories.Configuration(5, "shm", False, 2, 3, True), has_lock=False),
            "make worker (5 B, shm, no multi-modal input, API processes 2, data-parallel size 3, "
            "external load balancing) has_lock=False",
        ),
    ],
)
def test_an_operation_is_told_without_what_is_as_usual(operation: Any, words: str) -> None:
    assert operation_in_words(operation) == words


def test_a_request_shows_which_of_its_items_the_check_claimed() -> None:
    merge = p0.Merge((p0.Item("a", Content(1)), p0.Item("b", Content(2), "video")))
    assert operation_in_words(merge) == "merge [a 1 B/0, b 2 B/0 (video)]"
    assert operation_in_words(merge, ("b",)) == "merge [a 1 B/0, b 2 B/0 (video) (claimed)]"


def test_what_is_claimed_is_what_p0_had_before() -> None:
    steps = [
        Step(lru.Length(), state={"order": ["a"]}),
        Step(lru.Length(), state={"p0.order": ["b"], "p1.order": ["c"]}),
    ]
    assert claimed_keys(steps, 0) == ()
    assert claimed_keys(steps, 1) == ["a"]
    assert claimed_keys([*steps, steps[0]], 2) == ["b"]


def test_counts_have_units_where_the_operation_tells() -> None:
    kept = items.Kept(items.Tensor((2,)), "receiver")
    assert outcome_in_words(kept, 16) == "16 B kept alive"
    assert outcome_in_words(items.Size(items.Plain(1)), 28) == "28 B"
    assert outcome_in_words(items.Complexity(items.Plain(1)), 1) == "1 leaves"
    assert outcome_in_words(lru.Length(), 3) == "3"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_know_is_not_nothing(number: float) -> None:
    kept = msgspec.json.decode(msgspec.json.encode(plain(number)))
    assert results_in_words(kept) == str(number)
    assert plain({"a": [number, 1.5]}) == {"a": [str(number), 1.5]}
