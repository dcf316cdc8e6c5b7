"""The model of the receiver, clause by clause, with cases made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model.component import Content, Missed, Outcome, Raised
from mmcache_ref.model.receiver import (
    Clear,
    Config,
    Feature,
    Features,
    Fresh,
    Ingested,
    MissError,
    Received,
    State,
    Touch,
    Update,
    UpdateAll,
    observe,
    step,
)

BUDGET_5 = Config(5)
A2, B2, C3, D6, E1 = Content(2, 1), Content(2, 2), Content(3, 3), Content(6, 4), Content(1, 5)
AB = State((("a", A2), ("b", B2)))
"""a is the least recent; 4 of 5 bytes."""


def run(state: State, operation: Any) -> tuple[str, Outcome]:
    after, outcome = step(BUDGET_5, state, operation)
    return "".join(key for key, _ in after.entries), outcome


def given(content: Content) -> Received:
    return Received(content, is_input=True)


def features(*parts: Feature) -> Features:
    return Features(parts)


@pytest.mark.clause("KR-12")
def test_a_touch_moves_what_is_cached() -> None:
    assert run(AB, Touch("a"))[0] == "ba"
    assert run(AB, Touch("x"))[0] == "ab"


@pytest.mark.clause("KR-08")
def test_data_is_stored_and_comes_back_as_it_is() -> None:
    keys, outcome = run(AB, Update("c", C3))
    assert (keys, outcome.result) == ("bc", given(C3))


@pytest.mark.clause("KR-08")
def test_data_takes_the_place_of_what_was_cached_before_anything_is_evicted() -> None:
    """a leaves first: 2 + 3 = 5 bytes fit beside b."""
    keys, outcome = run(AB, Update("a", C3))
    assert (keys, outcome.result) == ("ba", given(C3))


@pytest.mark.clause("KR-09")
def test_data_too_large_leaves_nothing_under_its_key_and_the_rest_alone() -> None:
    keys, outcome = run(AB, Update("a", D6))
    assert (keys, outcome.result) == ("b", given(D6))


@pytest.mark.clause("KR-10", "KR-11")
def test_without_data_it_is_the_cached_item_or_a_miss() -> None:
    assert run(AB, Update("a")) == ("ba", Outcome("hit", Received(A2)))
    keys, outcome = run(AB, Update("x"))
    assert (keys, outcome.result) == ("ab", Missed(("x",)))


@pytest.mark.clause("IF-13")
def test_all_are_touched_before_any_is_updated() -> None:
    """c pushes b out, since a was touched; otherwise a would go first, and b could stay."""
    keys, outcome = run(State((("a", A2), ("b", E1))), features(Feature("c", C3), Feature("a", E1)))
    assert (keys, outcome.result) == ("ca", Ingested((given(C3), given(E1))))


@pytest.mark.clause("IF-14")
def test_each_is_updated_in_order() -> None:
    keys, outcome = run(AB, features(Feature("e", E1), Feature("a"), Feature("e")))
    assert (keys, outcome.result) == ("bae", Ingested((given(E1), Received(A2), Received(E1))))


@pytest.mark.clause("IF-15", "IF-16")
def test_every_miss_is_reported_in_order_and_the_rest_ingested() -> None:
    keys, outcome = run(
        AB, features(Feature("x"), Feature("e", E1), Feature("x"), Feature("b"), Feature("y"))
    )
    assert keys == "aeb"
    assert outcome.result == Ingested((None, given(E1), None, Received(B2), None), ("x", "x", "y"))


@pytest.mark.clause("IF-16")
def test_a_hash_is_missing_until_its_data_comes() -> None:
    _, outcome = run(State(), features(Feature("a"), Feature("a", A2), Feature("a")))
    assert outcome.result == Ingested((None, given(A2), Received(A2)), ("a",))


@pytest.mark.clause("IT-10")
def test_the_identifier_is_the_key_where_there_is_no_hash() -> None:
    keys, outcome = run(AB, features(Feature("a", has_mm_hash=False)))
    assert (keys, outcome.result) == ("ba", Ingested((Received(A2),)))


@pytest.mark.clause("KR-14")
def test_what_its_own_request_pushed_out_is_served_and_stored_again() -> None:
    """c and e push b and a out (3 + 1 + 2 > 5); both were promised."""
    keys, outcome = run(AB, features(Feature("c", C3), Feature("e", B2), Feature("b"), Feature("a")))
    assert outcome.result == Ingested((given(C3), given(B2), Received(B2), Received(A2)))
    assert outcome.kind == "promised"
    assert keys == "ba"


@pytest.mark.clause("KR-15")
def test_new_data_ends_a_promise() -> None:
    """b is stored with new data, and pushed out by it all; the old b does not come back."""
    request = features(Feature("b", E1), Feature("c", C3), Feature("e", B2), Feature("b"))
    _, outcome = run(AB, request)
    assert outcome.result == Ingested((given(E1), given(C3), given(B2), None), ("b",))


@pytest.mark.clause("KR-15")
def test_a_promise_ends_with_its_request() -> None:
    after, _ = step(BUDGET_5, AB, features(Feature("a"), Feature("c", C3), Feature("e", B2)))
    assert run(after, features(Feature("a")))[1].result == Ingested((None,), ("a",))


@pytest.mark.clause("IF-05")
def test_a_clear_leaves_nothing() -> None:
    assert run(AB, Clear())[0] == ""


@pytest.mark.clause("LRU-01", "LRU-02")
def test_what_can_be_observed() -> None:
    seen = {"budget": 5, "order": ("a", "b"), "bytes": 4, "values": (("a", A2), ("b", B2))}
    assert observe(BUDGET_5, AB) == seen


@pytest.mark.clause("KR-15")
def test_what_a_request_was_promised_is_missed_after_it() -> None:
    """x fills the whole cache after a was served: a was promised to the request, b was not."""
    state, _ = step(BUDGET_5, AB, features(Feature("a"), Feature("x", Content(5, 1))))
    assert state == State((("x", Content(5, 1)),), lapsed=("a",))
    assert step(BUDGET_5, state, Update("a"))[1] == Outcome("lapsed", Missed(("a",)))
    assert step(BUDGET_5, state, Update("b"))[1].kind == "miss"
    assert step(BUDGET_5, state, Update("a", A2))[0].lapsed == ()


@pytest.mark.clause("KR-15")
def test_data_ends_a_promise_also_when_it_is_too_large_to_keep() -> None:
    keys, outcome = run(AB, features(Feature("a", D6), Feature("a")))
    assert keys == "b"
    assert outcome.kind == "lapsed"
    assert outcome.result == Ingested((given(D6), None), ("a",))


@pytest.mark.clause("IF-16", "KR-14")
def test_a_miss_and_a_promise_in_one_request_are_told_apart() -> None:
    """Budget 4, a cached: of c, a, d (3 bytes), a, c alone is missing: what d pushes out was promised."""
    d3 = Content(3, 4)
    asked = features(Feature("c"), Feature("a"), Feature("d", d3), Feature("a"))
    _, outcome = step(Config(4), State((("a", A2),)), asked)
    assert outcome.result == Ingested((None, Received(A2), given(d3), Received(A2)), ("c",))
    assert outcome.kind == "promised"


@pytest.mark.clause("IF-01", "IF-02")
def test_several_are_updated_in_order_until_one_is_missed() -> None:
    keys, outcome = run(AB, UpdateAll((E1, None), ("e", "a")))
    assert (keys, outcome.result) == ("bea", (given(E1), Received(A2)))
    keys, outcome = run(AB, UpdateAll((E1, None, E1), ("e", "x", "y")))
    assert (keys, outcome.result) == ("abe", Missed(("x",)))
    assert run(AB, UpdateAll((E1,), ())) == ("ab", Outcome("unequal", Raised("AssertionError")))


@pytest.mark.clause("KR-12")
def test_a_touch_with_an_item_stores_nothing() -> None:
    assert run(AB, Touch("c", C3))[0] == "ab"


@pytest.mark.clause("IF-17")
def test_a_miss_error_has_its_hashes() -> None:
    assert run(AB, MissError(("x", "x")))[1].result == Missed(("x", "x"))


@pytest.mark.clause("IT-17")
def test_another_receiver_has_nothing_of_this_one() -> None:
    assert run(AB, Fresh(("a", "b")))[1].result == (False, False)
