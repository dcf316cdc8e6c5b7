"""The model of the shared-memory caches call by call, with cases made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model import shm_pair
from mmcache_ref.model.component import Content, OneOf, Outcome, Raised, rule
from mmcache_ref.model.explore import explore
from mmcache_ref.model.receiver import Received
from mmcache_ref.model.shm_pair import PROPERTIES, RULES, Config, State, initial, observe, step
from mmcache_ref.model.shm_pair_alphabet import (
    Attach,
    Clear,
    ClearReceiver,
    CloseAnother,
    Feature,
    Features,
    Forge,
    Fresh,
    Invalidate,
    IsCached,
    Odd,
    Receive,
    ReceiveAll,
    Release,
    Stats,
    Touch,
    Update,
    UpdateAll,
    Validate,
    Verify,
)
from mmcache_ref.model.shm_pair_receiving import MODIFIED, SIGNATURE
from mmcache_ref.model.shm_pair_results import Handed, Served

TWO_UNITS = Config(capacity=2, limit=3, workers=2)
A1, B1, C1, A2, D3 = Content(1, 1), Content(1, 2), Content(1, 3), Content(2, 4), Content(3, 5)
LAST_OF = {"a": A1, "b": B1, "c": C1}


def after(*operations: Any, config: Config = TWO_UNITS) -> State:
    state = initial(config)
    for operation in operations:
        state, outcome = step(config, state, operation)
        assert outcome.kind != "disabled", operation
    return state


def told(state: State, operation: Any, config: Config = TWO_UNITS) -> Outcome:
    return step(config, state, operation)[1]


def seen(state: State, *aspects: str) -> tuple[Any, ...]:
    observed = observe(TWO_UNITS, state)
    return tuple([observed[aspect] for aspect in aspects])


def read_by_all(key: str) -> tuple[Any, ...]:
    return Receive(Feature(key), 0), Receive(Feature(key), 1)


@pytest.mark.clause("SC-02", "SC-13")
def test_new_data_is_put_and_a_handle_comes_back() -> None:
    state = after(Update("a", A1))
    assert told(initial(TWO_UNITS), Update("a", A1)).result == Handed(A1)
    assert seen(state, "keys", "references", "counts", "hits", "total") == (("a",), (1,), (0,), 0, 1)


@pytest.mark.clause("SC-03", "SC-10")
def test_a_hit_takes_a_reference_and_brings_the_updates_on_record() -> None:
    once = after(Update("a", A1), Touch("a"))
    assert told(once, Update("a", A2)).result == Handed(A1)
    twice = after(Update("a", A1), Touch("a"), Update("a", A2))
    assert seen(twice, "references", "touched", "hits", "total") == ((2,), (), 1, 2)


@pytest.mark.clause("SC-04")
def test_an_assertion_counts_nothing() -> None:
    assert told(initial(TWO_UNITS), Update("a")).result == Raised("AssertionError", "a")
    assert after(Update("a")) == initial(TWO_UNITS)


@pytest.mark.clause("SC-05", "SC-36", "SC-37")
def test_a_refused_put_gives_the_input_back() -> None:
    """a and b fill two units and nobody has read them; three units are within the limit, and never fit."""
    full = after(Update("a", A1), Update("b", B1))
    assert told(full, Update("c", C1)) == Outcome("no_room", Served(C1, C1))
    read = after(Update("a", A1), *read_by_all("a"))
    large = step(TWO_UNITS, read, Update("d", D3))
    assert large[1] == Outcome("too_large", Served(D3, D3))
    assert seen(large[0], "keys", "total", "records") == (("a",), 2, ("a",))
    # What is over the limit 0.32 refuses as well before it frees anything: no stronger clause decides it.
    over = Content(TWO_UNITS.limit + 1, 6)
    after_over, outcome = step(TWO_UNITS, read, Update("d", over))
    assert outcome == Outcome("over_limit", Served(over, over))
    assert seen(after_over, "keys", "total", "records") == (("a",), 2, ("a",))
    assert RULES["update", "over_limit"] == RULES["update", "no_room"] == rule("SC-05")


@pytest.mark.clause("SC-08", "SC-09")
def test_a_touch_protects_until_the_release() -> None:
    held = (Update("a", A1), Update("b", B1), *read_by_all("a"), *read_by_all("b"), Touch("a"))
    assert told(after(*held), Update("c", C1)).kind == "no_room"
    assert told(after(*held, Release()), Update("c", C1)).kind == "put"
    assert after(Touch("a")) == initial(TWO_UNITS)


@pytest.mark.clause("SC-07")
def test_the_check_says_what_is_stored() -> None:
    assert told(after(Update("a", A1)), IsCached(("b", "a"))).result == (False, True)


@pytest.mark.clause("SC-11")
def test_records_are_swept_where_there_are_twice_as_many_as_keys() -> None:
    """When a goes for c, two records are fewer than twice the keys b and c; when both go for a of two units,
    two are twice the one key."""
    both = (Update("a", A1), Update("b", B1), *read_by_all("a"))
    assert seen(after(*both, Update("c", C1)), "records", "keys") == (("a", "b", "c"), ("b", "c"))
    swept = after(*both, *read_by_all("b"), Update("c", A2))
    assert seen(swept, "records", "keys") == (("c",), ("c",))


@pytest.mark.clause("SC-12")
def test_a_clear_leaves_nothing_but_ids() -> None:
    state = after(Update("a", A1), Touch("a"), Clear())
    assert seen(state, "keys", "records", "touched", "hits", "total") == ((), (), (), 0, 0)
    assert state.store.ring.next_id == 1


@pytest.mark.clause("SC-13")
def test_a_difference_is_taken_since_the_last_one() -> None:
    state = after(Update("a", A1), Stats(delta=True), Update("a"))
    assert told(state, Stats(delta=True)).result == (1, 1)
    assert told(state, Stats()).result == (1, 2)


@pytest.mark.clause("SC-14", "SC-15")
def test_only_the_current_handle_of_a_key_is_accepted() -> None:
    once = after(Update("a", A1))
    assert told(once, Validate("a")).kind == "current"
    assert told(once, Validate("a", is_plain=True)).kind == "plain"
    assert told(once, Odd("a", "shared elements")).kind == "accepted"
    assert told(once, Forge("a", "tuple signature")).result == SIGNATURE
    again = after(Update("a", A1), *read_by_all("a"), Clear(), Update("a", A2))
    assert told(again, Validate("a", back=1)).result == SIGNATURE
    assert told(after(Update("a", A1), Clear()), Odd("a", "more elements")).kind == "disabled"


@pytest.mark.clause("SC-19", "SC-20", "SC-18")
def test_a_worker_reads_a_handle_and_counts_once() -> None:
    once = after(Update("a", A1))
    assert told(once, Receive(Feature("a"))).result == Received(A1)
    assert seen(after(Update("a", A1), Receive(Feature("a"))), "counts") == ((1,),)
    assert told(once, Receive(Feature("b", "item", content=B1))).result == Received(B1, is_input=True)
    assert told(once, Receive(Feature("a", "nothing"))).result == Raised("AssertionError")


@pytest.mark.clause("SC-22", "SC-23")
def test_a_handle_that_is_forged_or_gone_is_refused() -> None:
    once = after(Update("a", A1))
    assert told(once, Receive(Feature("a", "forged"))).result == SIGNATURE
    assert told(once, Forge("a", "one bit", "receive")).kind == "refused_by_worker"
    gone = after(Update("a", A1), Clear())
    assert told(gone, Receive(Feature("a"))).result == OneOf((Received(A1), MODIFIED))
    taken = after(Update("a", A1), Clear(), Update("b", B1))
    assert told(taken, Receive(Feature("a"))).result == MODIFIED
    assert told(taken, Verify(Feature("a"))).result == OneOf((None, MODIFIED))


@pytest.mark.clause("SC-21", "IF-14", "IT-10")
def test_a_request_with_a_handle_that_is_refused_acknowledges_none() -> None:
    once = after(Update("a", A1))
    good, bad = Feature("a"), Feature("a", "forged")
    refused, outcome = step(TWO_UNITS, once, Features((good, bad)))
    assert (refused, outcome.result) == (once, SIGNATURE)
    served = step(TWO_UNITS, once, Features((good, Feature("a", "nothing"), Feature("a", has_mm_hash=False))))
    assert served[1].result == (Received(A1), None, Received(A1))
    assert seen(served[0], "counts") == ((2,),)


@pytest.mark.clause("IF-01", "IF-02")
def test_lists_are_one_call_for_each_pair() -> None:
    start = initial(TWO_UNITS)
    assert told(start, UpdateAll((A1, None), ("a", "a"))).result == (Handed(A1), Handed(A1))
    assert told(start, UpdateAll((A1,), ("a", "b"))).result == Raised("AssertionError")
    once = after(Update("a", A1))
    both = (Feature("a"), Feature("b", "item", content=B1))
    assert told(once, ReceiveAll(both)).result == (Received(A1), Received(B1, is_input=True))
    assert told(once, ReceiveAll(both, is_unequal=True)).result == Raised("AssertionError")


@pytest.mark.clause("SC-16", "SC-17", "SC-24", "IF-08", "IF-19")
def test_what_needs_no_state_says_the_same_everywhere() -> None:
    once = after(Update("a", A1))
    assert told(once, CloseAnother()).result == (True, Received(A1))
    assert told(once, Attach("segment")).result == Raised("FileNotFoundError")
    assert told(once, Attach("lock")).result == Raised("ValueError")
    assert told(once, Fresh(("a",))).result == (0, 0, False)
    for operation in (ClearReceiver(), Invalidate("a")):
        assert step(TWO_UNITS, once, operation)[0] == once


@pytest.mark.parametrize(
    "operation",
    [
        Update("a", Content(0)),
        UpdateAll((Content(0),), ("a",)),
        Receive(Feature("a")),
        Receive(Feature("a", "item", content=Content(0))),
        Verify(Feature("a")),
        Features((Feature("a"),)),
        Validate("a"),
        Odd("a", "more elements"),
        Forge("a", "one bit"),
        ClearReceiver(3),
        ReceiveAll((), is_unequal=True),
    ],
)
def test_what_has_no_meaning_is_disabled(operation: Any) -> None:
    assert step(TWO_UNITS, initial(TWO_UNITS), operation) == (initial(TWO_UNITS), Outcome("disabled"))


@pytest.mark.clause("SC-10", "SC-11", "SC-21")
def test_the_properties_hold_in_the_tiny_graph() -> None:
    found = explore(shm_pair, shm_pair.PRESETS["tiny"], properties=PROPERTIES)
    assert found.complete
    assert found.violated == ()
    assert found.distinct < 1000


@pytest.mark.clause("SC-11")
def test_a_record_too_many_is_seen() -> None:
    before = after(Update("a", A1))
    many = before._replace(records=(("a", A1), ("b", B1), ("c", C1)))
    holds = PROPERTIES["few-records"].holds
    assert not holds(TWO_UNITS, initial(TWO_UNITS), Update("a", A1), Outcome("put"), many)
    assert holds(TWO_UNITS, initial(TWO_UNITS), Update("a", A1), Outcome("put"), before)
    assert not PROPERTIES["own-updates"].holds(TWO_UNITS, before._replace(records=(("a", B1),)))
    assert not PROPERTIES["all-or-none"].holds(
        TWO_UNITS, initial(TWO_UNITS), Features(()), Outcome("refused"), before
    )
