"""Model and target in lockstep: what is compared, at which level, and what a mismatch says."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from broken import lru_touch_keeps_order, names, receiver_keeps_no_promise
from lru_trials import lru_trial

from mmcache_ref import reference
from mmcache_ref.model import lru, processor_cache, receiver
from mmcache_ref.model.component import Content, Missed, Raised
from mmcache_ref.oracle import guard as guard_module
from mmcache_ref.oracle.adapters.base import agrees, raised
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Run, Step, plain

A1, B1 = Content(1, 7), Content(1, 8)
BUDGET_2 = lru.Config(2)
TOUCHED = (lru.Put("a", A1), lru.Put("b", B1), lru.Touch("a"))


def sender_trial(**options: Any) -> Trial:
    return Trial(COMPONENTS["sender"], Namespace(reference, "reference"), **options)


def test_a_run_that_agrees_has_every_result_and_state() -> None:
    run = lru_trial().run(BUDGET_2, (*TOUCHED, lru.Get("b"), lru.Stat()))
    assert run.mismatch is None
    assert [step.expected for step in run.steps] == [None, None, None, {"nbytes": 1, "fill": 8}, (1, 1)]
    assert [step.actual for step in run.steps] == [step.expected for step in run.steps]
    assert [list(step.state["order"]) for step in run.steps] == [
        ["a"],
        ["a", "b"],
        ["b", "a"],
        ["a", "b"],
        ["a", "b"],
    ]


def test_a_name_with_nothing_under_it_is_not_offered() -> None:
    trial = Trial(COMPONENTS["lru"], Namespace(SimpleNamespace(LRUCache=None), "test"))
    with pytest.raises(NotOffered, match="the target offers no LRUCache"):
        trial.run(BUDGET_2, TOUCHED)


@pytest.mark.clause("LRU-09")
def test_a_mismatch_ends_the_run_and_says_where_they_part() -> None:
    run = lru_trial(lru_touch_keeps_order.LRUCache).run(BUDGET_2, (*TOUCHED, lru.Clear()))
    assert run.operations == TOUCHED
    assert run.mismatch is not None
    found = run.mismatch
    assert (found.clause, found.aspect, found.kind, found.level) == ("LRU-09", "order", "hit", 2)
    assert (list(found.expected), list(found.actual)) == (["b", "a"], ["a", "b"])


@pytest.mark.parametrize("level", [0, 1])
def test_what_lies_above_the_level_is_not_compared(level: int) -> None:
    assert lru_trial(lru_touch_keeps_order.LRUCache, level=level).run(BUDGET_2, TOUCHED).mismatch is None


def test_outcomes_alone_show_what_an_order_leads_to() -> None:
    run = lru_trial(lru_touch_keeps_order.LRUCache, level=0).run(BUDGET_2, (*TOUCHED, lru.PopItem()))
    assert run.mismatch is not None
    assert (run.mismatch.clause, run.mismatch.aspect) == ("LRU-24", "outcome")


def test_the_upstream_profile_is_silent_where_a_stronger_clause_decides() -> None:
    """Budget 2: a (2 bytes) is promised and pushed out by b; whether it is served, KR-13 decides."""
    operations = (
        processor_cache.Update("a", Content(2, 1)),
        processor_cache.Touch("a"),
        processor_cache.Update("b", Content(2, 2)),
        processor_cache.Update("a"),
        processor_cache.Clear(),
    )
    config = processor_cache.Config(2)
    silent = sender_trial(profile="upstream").run(config, operations)
    assert silent.operations == operations[:4]
    assert silent.mismatch is None
    assert sender_trial(profile="safe").run(config, operations).operations == operations


class Unreadable(reference.LRUCache[Any, Any]):
    """After an insertion its counters cannot be read."""

    def stat(self, *, delta: bool = False) -> Any:
        if self:
            raise OSError("no counters today")
        return super().stat(delta=delta)


def test_a_state_that_cannot_be_read_is_a_mismatch() -> None:
    run = lru_trial(Unreadable).run(BUDGET_2, TOUCHED)
    assert len(run.steps) == 1
    assert run.mismatch is not None
    assert (run.mismatch.clause, run.mismatch.aspect) == ("LRU-27", "hits")
    assert run.mismatch.suspects == ("LRU-13", "LRU-27")
    assert "no counters today" in str(run.mismatch.actual)


class Exits(reference.LRUCache[Any, Any]):
    """A touch ends the interpreter."""

    def touch(self, key: Any) -> None:
        sys.exit(0)


def test_an_exit_in_an_operation_is_its_outcome() -> None:
    run = lru_trial(Exits).run(BUDGET_2, TOUCHED)
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-09"
    assert "sys.exit(0)" in str(run.mismatch.actual)


class Spins(reference.LRUCache[Any, Any]):
    """A touch never returns."""

    def touch(self, key: Any) -> None:
        while True:
            pass


@pytest.mark.clause("LRU-18")
def test_an_operation_that_spins_breaks_the_clause_about_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.05)
    with hang_guard() as guard:
        run = lru_trial(Spins, guard=guard).run(BUDGET_2, TOUCHED)
    assert run.operations == TOUCHED
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-18"


def test_the_tally_counts_operations_cases_and_comparisons() -> None:
    trial = lru_trial(level=1)
    trial.run(BUDGET_2, TOUCHED)
    tally = trial.tally
    assert tally.operations == 3
    assert tally.cases == {("put", "stored"): 2, ("touch", "hit"): 1}
    # once of the cache that was just made, then after each operation
    assert tally.clauses["LRU-01"] == 4
    assert tally.clauses["LRU-02"] == 0
    assert tally.clauses["LRU-18"] == 3
    assert tally.level == 1


def test_replayed_operations_are_performed_and_not_compared() -> None:
    trial = lru_trial(lru_touch_keeps_order.LRUCache)
    lockstep = trial.replay(BUDGET_2, TOUCHED)
    assert trial.tally.operations == 0
    assert lockstep.performed == list(TOUCHED)
    mismatch = lockstep.perform(lru.Length())
    assert mismatch is not None
    assert mismatch.aspect == "order"


@pytest.mark.parametrize(
    ("expected", "actual", "is_agreed"),
    [
        (True, True, True),
        (True, 1, False),
        (0, False, False),
        (None, None, True),
        (Raised("ValueError", "too large"), Raised("ValueError", "value too large"), True),
        (Raised("ValueError", "too large"), Raised("ValueError", "no"), False),
        (Raised("ValueError", "too large"), Raised("ValueError", "Too Large"), False),
        (Raised("MemoryError", "enough space"), Raised("MemoryError", "NOT ENOUGH SPACE"), True),
        (Raised("MemoryError", "enough space"), Raised("MemoryError", "no"), False),
        (Raised("ValueError"), Raised("KeyError", "ValueError"), False),
        (Raised("Exception"), Raised("KeyError", "a"), True),
        (Raised("Exception"), None, False),
        (None, Raised("KeyError"), False),
        (Missed(("a", "a")), Missed(("a",)), False),
    ],
)
def test_results_agree_by_value_type_and_what_a_message_says(
    expected: Any, actual: Any, is_agreed: bool
) -> None:
    assert agrees(expected, actual) is is_agreed


def test_an_exception_counts_as_the_documented_type_it_is_derived_from() -> None:
    class SpecialError(KeyError):
        pass

    assert raised(SpecialError("a")) == Raised("KeyError", "'a'")
    assert raised(OSError("disk")) == Raised("OSError", "disk")
    assert raised(reference.MultiModalCacheMissError(["b", "b"])) == Missed(("b", "b"))


def test_a_foreign_value_is_kept_as_a_bounded_text() -> None:
    class Foreign:
        def __repr__(self) -> str:
            return "x" * 1000

    run = Run("lru", BUDGET_2, "safe", (Step(lru.Length(), actual=plain(Foreign())),))
    assert run.steps[0].actual == "x" * 200


class BeginsAtOne(reference.LRUCache[Any, Any]):
    """Its counters are not zero in the beginning."""

    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self._hits = self._total = 1


@pytest.mark.clause("LRU-27")
def test_what_was_made_wrong_is_not_blamed_on_the_first_operation() -> None:
    run = lru_trial(BeginsAtOne).run(BUDGET_2, TOUCHED)
    assert run.mismatch is not None
    assert (run.mismatch.clause, run.mismatch.aspect, run.mismatch.kind) == ("LRU-27", "hits", "initial")
    assert run.operations == TOUCHED[:1]


class NeedsABudget(reference.LRUCache[Any, Any]):
    """It cannot be made for a budget of 0."""

    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        if capacity == 0:
            raise ValueError("no budget")
        super().__init__(capacity, getsizeof)


@pytest.mark.clause("LRU-03")
def test_a_target_that_cannot_be_made_for_a_budget_breaks_the_clause_about_budgets() -> None:
    trial = lru_trial(NeedsABudget)
    assert trial.run(BUDGET_2, TOUCHED).mismatch is None
    mismatch = trial.run(lru.Config(0), TOUCHED).mismatch
    assert mismatch is not None
    assert (mismatch.clause, mismatch.kind) == ("LRU-03", "initial")
    assert "no budget" in str(mismatch.actual)


class Unpins(reference.LRUCache[Any, Any]):
    """Replacing a value moves its key wrong, or unpins it."""

    keeps_order = False

    def put_if_fits(self, key: Any, value: Any) -> bool:
        was_cached, order = key in self, list(self.order)
        fits = super().put_if_fits(key, value)
        if was_cached and self.keeps_order:
            for each in order:
                self.touch(each)
        elif was_cached:
            self.pinned_items.discard(key)
        return fits


class KeepsOrder(Unpins):
    """Replacing a value does not move its key."""

    keeps_order = True


@pytest.mark.clause("LRU-14", "LRU-22")
@pytest.mark.parametrize(("lru_class", "clause"), [(Unpins, "LRU-22"), (KeepsOrder, "LRU-14")])
def test_replacing_a_pinned_key_names_the_clause_of_what_went_wrong(lru_class: Any, clause: str) -> None:
    operations = (lru.Put("a", A1), lru.Put("b", B1), lru.Pin("a"), lru.Put("a", B1))
    mismatch = lru_trial(lru_class).run(BUDGET_2, operations).mismatch
    assert mismatch is not None
    assert mismatch.clause == clause


def test_what_the_target_does_not_offer_is_not_asked() -> None:
    """A namespace without `MultiModalCacheMissError`: nothing is performed, and nothing is compared."""
    lacking = {name: value for name, value in names().items() if name != "MultiModalCacheMissError"}
    trial = Trial(COMPONENTS["receiver"], Namespace(SimpleNamespace(**lacking), "test"))
    run = trial.run(receiver.Config(2), (receiver.MissError(("a",)), receiver.Update("a", A1)))
    assert run.operations == (receiver.Update("a", A1),)
    assert run.mismatch is None
    assert trial.tally.operations == 1


@pytest.mark.clause("KR-14")
def test_a_promise_that_is_not_kept_is_not_blamed_on_the_clause_about_misses() -> None:
    """Budget 4, a (2 bytes) cached: of c, a, d (3 bytes), a the target misses the second a, too."""
    namespace = Namespace(receiver_keeps_no_promise, "test")
    asked = receiver.Features(
        tuple(receiver.Feature(key, Content(3, 1) if key == "d" else None) for key in ("c", "a", "d", "a"))
    )
    operations = (receiver.Update("a", Content(2, 1)), asked)
    mismatch = Trial(COMPONENTS["receiver"], namespace).run(receiver.Config(4), operations).mismatch
    assert mismatch is not None
    assert mismatch.clause == "KR-14"
    assert "IF-16" in mismatch.suspects


def test_states_and_transitions_are_told_apart_and_cut() -> None:
    """Empty, a, a b, b a: a length is asked in the first state twice."""
    trial = lru_trial()
    trial.run(BUDGET_2, (lru.Length(), lru.Length(), *TOUCHED))
    tally = trial.tally
    assert (len(tally.states), len(tally.transitions)) == (3, 4)
    before = tally.cut()
    trial.run(BUDGET_2, (lru.Length(),))
    since = tally.since(before)
    assert (len(before.states), len(since.states), since.operations) == (3, 1, 1)
    assert set(since.cases) == {("len", "counted")}
