"""The model of the caches in P0, clause by clause, with cases made by hand."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Literal

import pytest

from mmcache_ref.model import processor_only, sender
from mmcache_ref.model.component import Content, Outcome, Raised, Updated
from mmcache_ref.model.processor_cache import (
    Clear,
    Close,
    Config,
    Defaults,
    Fresh,
    Invalidate,
    IsCached,
    Item,
    Merge,
    Release,
    State,
    Stats,
    TooLarge,
    Touch,
    Update,
    UpdateAll,
    Validate,
)

BUDGET_5 = Config(5)
A2, B2, C3, D6, E1 = Content(2, 1), Content(2, 2), Content(3, 3), Content(6, 4), Content(1, 5)
AB = State(entries=(("a", A2), ("b", B2)), hits=1, total=4, reported_hits=1, reported_total=2)
"""a is the least recent; 4 of 5 bytes."""
BOTH = pytest.mark.parametrize("cache", [processor_only, sender], ids=["processor-only", "sender"])


def keys(state: State) -> str:
    return "".join(key for key, _ in state.entries)


def run(cache: ModuleType, state: State, *operations: Any) -> tuple[State, Outcome]:
    """The state after the operations, and the outcome of the last."""
    outcome = Outcome("none")
    for operation in operations:
        state, outcome = cache.step(BUDGET_5, state, operation)
    return state, outcome


def hit(cache: ModuleType, content: Content) -> Updated:
    """What a hit returns: the processor-only cache gives the item, the sender gives none."""
    return Updated(content if cache is processor_only else None, content)


@BOTH
@pytest.mark.clause("IF-06")
def test_the_check_changes_nothing(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, IsCached(("b", "x", "a")))
    assert (state, outcome.result) == (AB, (True, False, True))


@BOTH
@pytest.mark.clause("IF-07")
def test_a_touch_moves_and_does_not_count(cache: ModuleType) -> None:
    state, _ = run(cache, AB, Touch("a"))
    assert (keys(state), state.hits, state.total) == ("ba", 1, 4)
    assert run(cache, AB, Touch("x"))[0].entries == AB.entries


@BOTH
@pytest.mark.clause("PO-01", "KR-02")
def test_a_hit_gives_what_is_cached_even_when_data_is_given(cache: ModuleType) -> None:
    for given in (None, E1):
        state, outcome = run(cache, AB, Update("a", given))
        assert outcome.result == hit(cache, A2)
        assert (keys(state), state.hits, state.total) == ("ba", 2, 5)


@BOTH
@pytest.mark.clause("PO-02", "PO-05", "KR-03")
def test_a_miss_with_data_stores_and_gives_the_input_back(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, Update("c", C3))
    assert outcome.result == Updated(C3, C3, is_input=True)
    # 4 + 3 > 5: a goes.
    assert (keys(state), state.hits, state.total) == ("bc", 1, 5)
    assert cache.observe(BUDGET_5, state)["bytes"] == 5


@BOTH
@pytest.mark.clause("PO-03", "KR-04")
def test_a_miss_without_data_asserts_and_names_the_hash(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, Update("c"))
    assert outcome.result == Raised("AssertionError", says="c")
    assert (state.entries, state.hits, state.total) == (AB.entries, 1, 5)


@BOTH
@pytest.mark.clause("PO-04", "KR-05")
def test_an_item_larger_than_the_budget_is_sent_each_time(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, Update("d", D6), Update("d", D6))
    assert outcome.result == Updated(D6, D6, is_input=True)
    assert (state.entries, state.hits, state.total) == (AB.entries, 1, 6)


@BOTH
@pytest.mark.clause("IF-01", "IF-02")
def test_several_updates_are_single_ones_in_order(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, UpdateAll((C3, None, None), ("c", "c", "b")))
    assert outcome.result == (Updated(C3, C3, is_input=True), hit(cache, C3), hit(cache, B2))
    assert keys(state) == "cb"
    state, outcome = run(cache, AB, UpdateAll((C3,), ()))
    assert (state, outcome.result) == (AB, Raised("AssertionError"))


@BOTH
@pytest.mark.clause("IF-01")
def test_what_was_updated_before_an_assertion_stays(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, UpdateAll((C3, None, E1), ("c", "x", "e")))
    assert outcome.result == Raised("AssertionError", says="x")
    assert keys(state) == "bc"


@BOTH
@pytest.mark.clause("IF-05", "PO-06", "KR-07")
def test_a_clear_leaves_nothing(cache: ModuleType) -> None:
    state, _ = run(cache, AB, Touch("a"), Clear())
    assert state == State(lapsed=("a",))


@BOTH
@pytest.mark.clause("IF-09", "PO-06", "KR-07")
def test_stats_count_updates_since_the_clear_or_the_last_report(cache: ModuleType) -> None:
    assert run(cache, AB, Stats())[1].result == (1, 4)
    assert run(cache, AB, Stats(delta=True))[1].result == (0, 2)
    assert run(cache, AB, Stats(delta=True), Stats(delta=True))[1].result == (0, 0)
    assert run(cache, AB, Stats(delta=True), Update("a"), Stats(delta=True))[1].result == (1, 1)
    untouched, _ = run(cache, AB, IsCached(("a",)), Touch("a"), Release(), Invalidate("b"))
    assert (untouched.hits, untouched.total) == (1, 4)


@pytest.mark.clause("KR-06", "IF-08")
def test_only_the_sender_forgets_what_is_invalidated() -> None:
    assert keys(run(sender, AB, Invalidate("a"))[0]) == "b"
    assert run(sender, AB, Invalidate("x"))[0] == AB
    assert run(processor_only, AB, Invalidate("a"))[0] == AB


@BOTH
@pytest.mark.clause("PO-07", "KR-13")
def test_what_was_touched_and_pushed_out_is_a_hit_and_stored_again(cache: ModuleType) -> None:
    """c needs 3 of 5 bytes and pushes b out after the touches; b again pushes a out: 2 + 3 + 2 > 5."""
    state, outcome = run(cache, AB, Touch("b"), Touch("a"), Update("c", C3), Update("b"))
    assert outcome.kind == "promised"
    assert outcome.result == hit(cache, B2)
    assert (keys(state), state.hits, state.total) == ("cb", 2, 6)


@BOTH
@pytest.mark.clause("PO-08", "KR-15")
@pytest.mark.parametrize(
    "ending",
    [(Release(),), (Touch("x"),), (Update("b", B2), Update("a", A2), Update("c", C3)), (Clear(),)],
    ids=["release", "the next touch", "new data", "clear"],
)
def test_a_promise_ends(cache: ModuleType, ending: tuple[Any, ...]) -> None:
    """b was touched and pushed out by c; the touches end, or b is stored anew and pushed out again."""
    before, _ = run(cache, AB, Touch("b"), Touch("a"), Update("c", C3))
    assert run(cache, before, Update("b"))[1].kind == "promised"
    after, _ = run(cache, before, *ending)
    outcome = run(cache, after, Update("b"))[1]
    assert outcome.kind == ("asserted" if ending[0] == Update("b", B2) else "lapsed")
    assert outcome.result == Raised("AssertionError", says="b")


@pytest.mark.clause("KR-15")
def test_an_invalidation_ends_a_promise_of_the_sender() -> None:
    _, outcome = run(sender, AB, Touch("b"), Touch("a"), Update("c", C3), Invalidate("b"), Update("b"))
    assert outcome.kind == "lapsed"


def image(key: str, content: Content) -> Item:
    return Item(key, content)


@BOTH
@pytest.mark.clause("IF-10", "IF-11")
def test_the_merge_step_touches_all_before_it_updates_any(cache: ModuleType) -> None:
    """c would push a out, the least recent; touched, it stays, and b goes."""
    state, outcome = run(cache, AB, Merge((image("c", C3), image("a", A2))))
    assert keys(state) == "ca"
    assert [each.item for each in outcome.result] == [C3, A2 if cache is processor_only else None]


@BOTH
@pytest.mark.clause("IF-11", "IF-12")
def test_the_merge_step_goes_by_modality_and_numbers_within_it(cache: ModuleType) -> None:
    request = (image("x", E1), Item("v", E1, "video"), image("y", E1))
    state, outcome = run(cache, State(), Merge(request))
    assert keys(state) == "xyv"
    assert [each.index for each in outcome.result] == [0, 1, 0]
    assert all(each.is_input for each in outcome.result)


@BOTH
@pytest.mark.clause("IF-11", "IF-12")
def test_a_hash_that_is_named_twice_and_missing_is_given_twice_and_hits_once(cache: ModuleType) -> None:
    state, outcome = run(cache, State(), Merge((image("a", A2), image("a", A2))))
    first, second = outcome.result
    assert (first.item, first.is_input, first.index) == (A2, True, 0)
    assert (second.is_input, second.index) == (False, 1)
    assert (state.hits, state.total) == (1, 2)


@BOTH
@pytest.mark.clause("PO-08", "KR-15")
def test_nothing_is_promised_after_a_merge_step(cache: ModuleType) -> None:
    state, _ = run(cache, AB, Merge((image("c", C3), image("a", A2), image("b", B2))))
    assert (state.promised, state.is_touching) == ((), False)


@pytest.mark.clause("KR-01")
def test_the_sender_never_gives_a_payload_that_was_not_just_given() -> None:
    state = State()
    for operation in (Update("a", A2), Update("a"), Update("a", E1), Merge((image("a", A2),))):
        state, outcome = run(sender, state, operation)
        results = outcome.result if isinstance(outcome.result, tuple) else (outcome.result,)
        assert all(each.item is None or each.is_input for each in results)


@BOTH
@pytest.mark.clause("IF-08")
def test_validating_and_closing_do_nothing(cache: ModuleType) -> None:
    assert run(cache, AB, Validate("c", C3), Close()) == (AB, Outcome("ignored"))
    assert run(cache, AB, Defaults()) == (AB, Outcome("ignored", ()))


@BOTH
@pytest.mark.clause("IF-09")
def test_another_cache_begins_empty(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, Fresh(("a", "b")))
    assert (state, outcome.result) == (AB, (0, 0, False, False))


@BOTH
@pytest.mark.clause("IF-04")
def test_what_does_not_fit_is_reported_once_at_most(cache: ModuleType) -> None:
    state, outcome = run(cache, AB, TooLarge(3))
    assert (state, outcome.result) == (AB, 0)


@BOTH
@pytest.mark.clause("IF-11", "PO-03", "KR-04")
def test_a_merge_step_fails_at_the_first_item_that_is_gone_since_the_check(cache: ModuleType) -> None:
    """b is updated, the one that is gone is not, and what comes after it is not either."""
    request = (image("b", B2), image("gone", E1), image("a", A2))
    state, outcome = run(cache, AB, Merge(request, stale=("gone",)))
    assert outcome == Outcome("asserted", Raised("AssertionError", says="gone"))
    assert (keys(state), state.hits, state.total) == ("ab", 2, 6)


@BOTH
@pytest.mark.clause("IF-18")
@pytest.mark.parametrize("withheld", ["item", "updates"])
def test_a_merge_step_that_lacks_something_changes_nothing(
    cache: ModuleType, withheld: Literal["item", "updates"]
) -> None:
    request = (image("a", A2), image("new", E1))
    assert run(cache, AB, Merge(request, withheld=withheld)) == (
        AB,
        Outcome("unsupplied", Raised("Exception")),
    )
    cached = (image("b", B2), image("a", A2))
    assert run(cache, AB, Merge(cached, withheld=withheld)) == run(cache, AB, Merge(cached))


@BOTH
@pytest.mark.clause("PO-08", "KR-15", "DR-03")
def test_the_touches_of_a_merge_step_that_fails_end(cache: ModuleType) -> None:
    """In the second, d pushes a out, which was touched and updated; then the step fails."""
    request = (image("a", A2), image("c", C3), image("gone", E1))
    state, _ = run(cache, AB, Merge(request, stale=("gone",)))
    assert (keys(state), state.promised, state.is_touching) == ("ac", (), False)
    state, _ = run(cache, AB, Merge((*request[:2], image("d", C3), request[2]), stale=("gone",)))
    assert (keys(state), state.promised, state.lapsed) == ("d", (), ("a",))
    assert run(cache, state, Update("a"))[1].kind == "lapsed"


@BOTH
@pytest.mark.clause("IF-11")
def test_a_stale_key_that_is_cached_after_all_is_a_hit(cache: ModuleType) -> None:
    assert run(cache, AB, Merge((image("a", A2),), stale=("a",))) == run(cache, AB, Merge((image("a", A2),)))
