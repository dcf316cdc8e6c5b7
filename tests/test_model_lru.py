"""The model of the LRU, clause by clause, with cases made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model import lru
from mmcache_ref.model.component import Content, Raised, tag
from mmcache_ref.model.lru import State, step

BUDGET_6 = lru.Config(6)


def of(nbytes: int, fill: int = 1) -> Content:
    return Content(nbytes, fill)


ABC = State(
    entries=(("a", of(1)), ("b", of(2)), ("c", of(3))), hits=3, total=5, reported_hits=1, reported_total=2
)
"""Full: 6 of 6 bytes; a is the least recent."""
PINNED_A = ABC._replace(pins=("a",))
ALL_PINNED = ABC._replace(pins=("a", "b", "c"))
EMPTY = State()


def order(state: State) -> str:
    return "".join(key for key, _ in state.entries)


def counters(state: State) -> tuple[int, int]:
    return state.hits, state.total


def case(
    clause: str, state: State, operation: Any, result: Any, after: str, counted: tuple[int, int] = (3, 5)
) -> Any:
    """An operation, what it gives, the order after it, and hits and total after it."""
    return pytest.param(state, operation, result, after, counted, marks=pytest.mark.clause(clause), id=clause)


@pytest.mark.clause(
    "LRU-03",
    "LRU-04",
    "LRU-05",
    "LRU-06",
    "LRU-07",
    "LRU-08",
    "LRU-09",
    "LRU-10",
    "LRU-11",
    "LRU-12",
    "LRU-13",
    "LRU-14",
    "LRU-15",
    "LRU-16",
    "LRU-17",
    "LRU-19",
    "LRU-20",
    "LRU-21",
    "LRU-23",
    "LRU-24",
    "LRU-25",
    "LRU-26",
    "LRU-27",
    "LRU-28",
)
@pytest.mark.parametrize(
    ("state", "operation", "result", "after", "counted"),
    [
        case("LRU-04", ABC, lru.Contains("a"), True, "abc"),
        case("LRU-04", ABC, lru.Contains("x"), False, "abc"),
        case("LRU-04", ABC, lru.Length(), 3, "abc"),
        case("LRU-05", ABC, lru.GetItem("a"), of(1), "bca", (4, 6)),
        case("LRU-06", ABC, lru.GetItem("x"), Raised("KeyError"), "abc"),
        case("LRU-07", ABC, lru.Get("b"), of(2), "acb", (4, 6)),
        case("LRU-08", ABC, lru.Get("x"), None, "abc", (3, 6)),
        case("LRU-09", ABC, lru.Touch("a"), None, "bca"),
        case("LRU-10", ABC, lru.Touch("x"), None, "abc"),
        case("LRU-11", ABC, lru.Pop("b"), of(2), "ac"),
        case("LRU-11", ABC, lru.Pop("x"), None, "abc"),
        case("LRU-12", ABC, lru.Delete("b"), None, "ac"),
        case("LRU-12", ABC, lru.Delete("x"), Raised("KeyError"), "abc"),
        # 6 + 1 > 6: a goes, and its one byte is enough.
        case("LRU-13", ABC, lru.Put("x", of(1)), None, "bcx"),
        case("LRU-13", ABC, lru.SetItem("x", of(2)), None, "cx"),
        case("LRU-13", ABC, lru.Put("x", of(6)), None, "x"),
        case("LRU-13", ABC, lru.Put("x", of(0)), None, "abcx"),
        case("LRU-14", ABC, lru.Put("a", of(1, 9)), None, "bca"),
        case("LRU-14", ABC, lru.Put("c", of(0)), None, "abc"),
        # b from 2 to 3 bytes: 6 + 3 > 6, 5 + 3 > 6 (a is gone), 3 + 3 fits (b itself is gone).
        case("LRU-15", ABC, lru.Put("b", of(3)), None, "cb"),
        case("LRU-16", ABC, lru.Put("x", of(7)), Raised("ValueError", "value too large"), "abc"),
        case("LRU-16", ABC, lru.SetItem("a", of(7)), Raised("ValueError", "value too large"), "abc"),
        case("LRU-17", ABC, lru.PutIfFits("x", of(1)), True, "bcx"),
        case("LRU-17", ABC, lru.PutIfFits("a", of(7)), False, "abc"),
        case("LRU-19", ABC, lru.Pin("a"), None, "abc"),
        case("LRU-19", PINNED_A, lru.Put("x", of(1)), None, "acx"),
        case("LRU-20", ABC, lru.Pin("x"), Raised("ValueError"), "abc"),
        case("LRU-21", ALL_PINNED, lru.Put("x", of(1)), Raised("RuntimeError"), "abc"),
        # b and c go, then only a is left: its byte is in the way of the six.
        case("LRU-21", PINNED_A, lru.Put("x", of(6)), Raised("RuntimeError"), "a"),
        case("LRU-21", PINNED_A, lru.PutIfFits("x", of(6)), Raised("RuntimeError"), "a"),
        case("LRU-21", ALL_PINNED, lru.RemoveOldest(), Raised("RuntimeError"), "abc"),
        case("LRU-23", ABC, lru.RemoveOldest(), None, "bc"),
        case("LRU-23", PINNED_A, lru.RemoveOldest(), None, "ac"),
        case("LRU-23", PINNED_A, lru.RemoveOldest(remove_pinned=True), None, "bc"),
        case("LRU-23", EMPTY, lru.RemoveOldest(), None, "", (0, 0)),
        case("LRU-24", ABC, lru.PopItem(), ("a", of(1)), "bc"),
        case("LRU-24", PINNED_A, lru.PopItem(), ("b", of(2)), "ac"),
        case("LRU-24", PINNED_A, lru.PopItem(remove_pinned=True), ("a", of(1)), "bc"),
        case("LRU-25", EMPTY, lru.PopItem(), Raised("RuntimeError"), "", (0, 0)),
        case("LRU-25", EMPTY, lru.PopItem(remove_pinned=True), Raised("Exception"), "", (0, 0)),
        case("LRU-26", ALL_PINNED, lru.Clear(), None, "", (0, 0)),
        case("LRU-27", ABC, lru.Stat(), (3, 5), "abc"),
        case("LRU-28", ABC, lru.Stat(delta=True), (2, 3), "abc"),
        case("LRU-03", ABC, lru.Usage(), (6, 6, 1.0), "abc"),
    ],
)
def test_an_operation(
    state: State, operation: Any, result: Any, after: str, counted: tuple[int, int]
) -> None:
    then, outcome = step(BUDGET_6, state, operation)
    assert outcome.result == result
    assert order(then) == after
    assert counters(then) == counted


@pytest.mark.clause("LRU-03")
def test_the_usage_of_nothing_is_none_of_it() -> None:
    assert step(lru.Config(0), EMPTY, lru.Usage())[1].result == (0, 0, 0)


@pytest.mark.clause("LRU-01", "LRU-02")
def test_what_can_be_observed_of_a_state() -> None:
    assert lru.observe(BUDGET_6, PINNED_A) == {
        "order": ("a", "b", "c"),
        "data": ("a", "b", "c"),
        "values": PINNED_A.entries,
        "views": ("a", "b", "c"),
        "pins": ("a",),
        "hits": 3,
        "total": 5,
        "length": 3,
        "bytes": 6,
    }


@pytest.mark.clause("LRU-22")
@pytest.mark.parametrize(
    ("operation", "pins"),
    [
        (lru.Pop("a"), ("b", "c")),
        (lru.Delete("b"), ("a", "c")),
        (lru.RemoveOldest(remove_pinned=True), ("b", "c")),
        (lru.PopItem(remove_pinned=True), ("b", "c")),
        (lru.Clear(), ()),
        (lru.Put("a", of(1, 9)), ("a", "b", "c")),
        (lru.Put("x", of(7)), ("a", "b", "c")),
    ],
)
def test_a_pin_ends_when_its_key_leaves_and_not_before(operation: Any, pins: tuple[str, ...]) -> None:
    assert step(BUDGET_6, ALL_PINNED, operation)[0].pins == pins


@pytest.mark.clause("LRU-28")
def test_what_was_reported_is_not_reported_again() -> None:
    state, _ = step(BUDGET_6, ABC, lru.Stat(delta=True))
    state, outcome = step(BUDGET_6, state, lru.Stat(delta=True))
    assert outcome.result == (0, 0)
    state, _ = step(BUDGET_6, state, lru.Get("a"))
    assert step(BUDGET_6, state, lru.Stat(delta=True))[1].result == (1, 1)
    state, _ = step(BUDGET_6, state, lru.Clear())
    assert step(BUDGET_6, state, lru.Stat(delta=True))[1].result == (0, 0)


def test_every_outcome_of_the_tiny_graph_has_a_rule_and_every_rule_an_outcome() -> None:
    met = outcomes_of(lru.PRESETS["tiny"])
    assert met == lru.RULES.keys()


def outcomes_of(config: lru.Config) -> set[tuple[str, str]]:
    waiting, seen, met = [lru.initial(config)], {lru.view(lru.initial(config))}, set()
    while waiting:
        state = waiting.pop()
        for operation in lru.operations(config, state):
            after, outcome = step(config, state, operation)
            met |= {(tag(operation), kind) for kind in (outcome.kind, *outcome.also)}
            if lru.view(after) not in seen:
                seen.add(lru.view(after))
                waiting.append(after)
    return met


@pytest.mark.clause("IT-11")
def test_the_hit_ratio_is_hits_by_total_and_0_without_lookups() -> None:
    config = lru.Config(6)
    assert step(config, lru.State(hits=3, total=4), lru.HitRatio())[1].result == 0.75
    assert step(config, lru.State(), lru.HitRatio())[1].result == 0


@pytest.mark.clause("LRU-30")
def test_setdefault_looks_up_or_inserts() -> None:
    """The cache is full: d (1 byte) evicts a alone. A miss counts nothing."""
    state, outcome = step(BUDGET_6, ABC, lru.SetDefault("a", of(1, 9)))
    assert (order(state), outcome.result) == ("bca", dict(ABC.entries)["a"])
    assert counters(state) == (ABC.hits + 1, ABC.total + 1)
    state, outcome = step(BUDGET_6, ABC, lru.SetDefault("d", of(1)))
    assert (order(state), outcome.result) == ("bcd", of(1))
    assert counters(state) == (ABC.hits, ABC.total)
    assert step(BUDGET_6, ABC, lru.SetDefault("d", of(7)))[1].result == Raised(
        "ValueError", "value too large"
    )


@pytest.mark.clause("LRU-30")
def test_update_puts_each_pair_until_one_is_refused() -> None:
    state, outcome = step(BUDGET_6, ABC, lru.UpdateWith((("a", of(1)), ("d", of(7)), ("e", of(1)))))
    assert (order(state), outcome.result) == ("bca", Raised("ValueError", "value too large"))
    state, outcome = step(BUDGET_6, EMPTY, lru.UpdateWith((("b", of(1)), ("a", of(2)))))
    assert (order(state), outcome.result) == ("ba", None)


@pytest.mark.clause("LRU-08", "LRU-11")
def test_without_a_default_it_is_none() -> None:
    assert step(BUDGET_6, ABC, lru.Get("x", has_default=False))[1].result is None
    assert step(BUDGET_6, ABC, lru.Pop("x", has_default=False))[1].result is None


@pytest.mark.clause("LRU-27")
def test_another_cache_begins_with_nothing() -> None:
    assert step(BUDGET_6, ABC, lru.Fresh())[1].result == (0, 0, 0)
    assert step(BUDGET_6, ABC, lru.Keys())[1].result == ("a", "b", "c")


@pytest.mark.clause("LRU-29")
def test_reading_a_view_changes_nothing() -> None:
    content = dict(ABC.entries)["a"]
    for key, shown in (("a", (True, True, content, 3, 3)), ("x", (False, False, None, 3, 3))):
        after, outcome = step(BUDGET_6, ABC, lru.View(key))
        assert (after, outcome.result) == (ABC, shown)
