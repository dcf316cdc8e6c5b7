"""What probably follows from what: the violation to repair is read first, and no other is blamed lightly."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model import lru, receiver
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.causes import with_causes
from mmcache_ref.oracle.run import Mismatch, Run, Step
from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict, clause_verdict


def violates(
    component: str, clause: str, aspect: str = "outcome", *, suspects: tuple[str, ...] = (), actual: Any = 1
) -> ClauseVerdict:
    mismatch = Mismatch(clause, aspect, "kind", 0, None, actual, (clause, *suspects))
    run = Run(component, lru.Config(2), "safe", (Step(lru.Put("a", Content(1))),), mismatch)
    return clause_verdict(clause, 1, run, "exhaustive", None)


def causes(**broken: list[ClauseVerdict]) -> dict[str, tuple[str, ...]]:
    """`component:clause` to what it follows from."""
    verdicts = [
        ComponentVerdict(name.replace("_", "-"), "violates", clauses=tuple(each))
        for name, each in broken.items()
    ]
    return {
        f"{verdict.component}:{each.id}": each.follows_from
        for verdict in with_causes(verdicts)
        for each in verdict.clauses
    }


def raises(error: str) -> dict[str, str]:
    return {"result": "raised", "error": error, "says": ""}


def test_a_touch_of_a_cache_follows_from_the_touch_of_its_lru() -> None:
    found = causes(
        lru=[violates("lru", "LRU-10", "order")], receiver=[violates("receiver", "KR-12", "order")]
    )
    assert found == {"lru:LRU-10": (), "receiver:KR-12": ("LRU-10 (lru)",)}


def test_the_same_clause_one_layer_up_follows_from_the_one_below_whatever_the_order() -> None:
    pair = [violates("key-replicated", "KR-08")]
    below = [violates("receiver", "KR-08")]
    expected = {"key-replicated:KR-08": ("KR-08 (receiver)",), "receiver:KR-08": ()}
    assert causes(key_replicated=pair, receiver=below) == expected
    assert causes(receiver=below, key_replicated=pair) == expected


@pytest.mark.clause("IF-20")
def test_a_cache_that_hangs_follows_from_a_hang_of_what_it_is_built_on() -> None:
    found = causes(
        lru=[violates("lru", "LRU-18")],
        sender=[violates("sender", "IF-20")],
        ring_buffer=[violates("ring-buffer", "IF-20")],
        object_store=[violates("object-store", "IF-20")],
    )
    assert found == {
        "lru:LRU-18": (),
        "sender:IF-20": ("LRU-18 (lru)",),
        "ring-buffer:IF-20": (),
        "object-store:IF-20": ("IF-20 (ring-buffer)",),
    }


def test_the_object_store_is_not_excused_by_an_lru_that_it_does_not_use() -> None:
    found = causes(lru=[violates("lru", "LRU-18")], object_store=[violates("object-store", "IF-20")])
    assert found["object-store:IF-20"] == ()


def test_a_suspect_that_is_broken_by_itself_is_the_cause() -> None:
    both = [violates("receiver", "IF-14", suspects=("KR-08",)), violates("receiver", "KR-08")]
    assert causes(receiver=both) == {"receiver:IF-14": ("KR-08 (receiver)",), "receiver:KR-08": ()}


def test_two_that_suspect_each_other_are_both_told_whole() -> None:
    both = [
        violates("receiver", "IF-14", suspects=("IF-15",)),
        violates("receiver", "IF-15", suspects=("IF-14",)),
    ]
    assert causes(receiver=both) == {"receiver:IF-14": (), "receiver:IF-15": ()}


@pytest.mark.parametrize(
    ("lower", "upper", "is_explained"),
    [
        (("LRU-13", "order"), ("KR-08", "order", None), True),
        (("LRU-13", "order"), ("KR-08", "outcome", None), False),
        (("LRU-11", "outcome"), ("KR-11", "outcome", None), False),
        (("LRU-08", "total"), ("KR-08", "order", None), False),
        (("LRU-16", "outcome", raises("ValueError")), ("KR-08", "outcome", raises("ValueError")), True),
        (("LRU-16", "outcome", raises("ValueError")), ("KR-08", "outcome", raises("AssertionError")), False),
        (("LRU-17", "outcome", raises("AttributeError")), ("KR-09", "outcome", raises("ValueError")), False),
        (("LRU-29", "views"), ("KR-08", "order", None), False),
    ],
)
def test_a_cache_is_excused_only_by_what_its_lru_can_do_to_it(
    lower: tuple[Any, ...], upper: tuple[str, str, Any], is_explained: bool
) -> None:
    found = causes(
        lru=[violates("lru", *lower[:2], actual=lower[-1])],
        receiver=[violates("receiver", upper[0], upper[1], actual=upper[2])],
    )
    assert bool(found[f"receiver:{upper[0]}"]) == is_explained


def test_an_empty_list_that_cannot_be_sized_does_not_excuse_a_broken_promise() -> None:
    found = causes(
        items=[violates("items", "IT-18", actual=raises("TypeError"))],
        sender=[violates("sender", "KR-13", actual=raises("AssertionError"))],
    )
    assert found["sender:KR-13"] == ()


def test_what_follows_from_another_stands_last_also_when_it_is_shorter() -> None:
    long = Run(
        "receiver",
        receiver.Config(2),
        "safe",
        (Step(receiver.Touch("a")), Step(receiver.Touch("b"))),
        Mismatch("KR-08", "outcome", "kind", 0, None, 1, ("KR-08",)),
    )
    follower = violates("receiver", "IF-14", suspects=("KR-08",))
    verdict = ComponentVerdict(
        "receiver", "violates", clauses=(follower, clause_verdict("KR-08", 1, long, "exhaustive", None))
    )
    (judged,) = with_causes([verdict])
    assert [each.id for each in judged.broken] == ["KR-08", "IF-14"]
