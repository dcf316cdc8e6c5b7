"""Shrinking: what can be left out of a run is left out, and the clause stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from types import SimpleNamespace
from typing import Any

import pytest
from broken import lru_pop_keeps_pin, lru_touch_keeps_order, receiver_raises_at_first_miss
from lru_trials import lru_trial
from msgspec import structs

from mmcache_ref.model import accidents, items, lru, receiver
from mmcache_ref.model.component import Content, Op, tag
from mmcache_ref.model.key_replicated import Deliver, Submit
from mmcache_ref.oracle.components import COMPONENTS, ROUND_AND_ROUND
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.short_runs import short_runs
from mmcache_ref.oracle.shrink import Shrinker, shrink
from mmcache_ref.oracle.simpler import simpler, without_members
from mmcache_ref.oracle.targets import resolve

ONE = Content(1, 1)
CONFIG = lru.Config(6)
PADDING: tuple[Op, ...] = (
    lru.Length(),
    lru.Get("x"),
    lru.Stat(),
    lru.Usage(),
    lru.RemoveOldest(),
    lru.Clear(),
)
BETWEEN = PADDING[:4]


def shrunk(lru_class: Any, operations: Sequence[Op]) -> Run:
    trial = lru_trial(lru_class)
    return shrink(trial, trial.run(CONFIG, operations))


def test_operations_that_do_not_matter_go() -> None:
    needed = (lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a"))
    padded = (*PADDING, needed[0], *BETWEEN, needed[1], *BETWEEN, needed[2], *PADDING)
    run = shrunk(lru_touch_keeps_order.LRUCache, padded)
    assert run.operations == (lru.UpdateWith((("a", ONE), ("b", ONE))), lru.Touch("a"))
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-09"


def test_a_run_of_which_nothing_can_go_stays() -> None:
    needed = (lru.Put("a", ONE), lru.Pin("a"), lru.Pop("a"))
    assert shrunk(lru_pop_keeps_pin.LRUCache, needed).operations == needed


def test_members_of_a_list_that_do_not_matter_go() -> None:
    trial = Trial(COMPONENTS["receiver"], Namespace(receiver_raises_at_first_miss, "test"))
    features = tuple(receiver.Feature(key) for key in "abcd")
    run = shrink(trial, trial.run(receiver.Config(6), [receiver.Features(features)]))
    (step,) = run.operations
    assert isinstance(step, receiver.Features)
    assert len(step.features) == 2


def test_a_run_keeps_its_clause() -> None:
    """Left out, the touch would let the put break LRU-13 instead."""
    operations = (lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a"))
    run = shrunk(lru_touch_keeps_order.LRUCache, operations)
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-09"


def test_when_nothing_may_be_performed_the_run_comes_back_as_it_is() -> None:
    padded = (*PADDING, lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a"))
    trial = lru_trial(lru_touch_keeps_order.LRUCache)
    run = trial.run(CONFIG, padded)
    assert shrink(trial, run, operations=0) is run


def test_a_run_of_the_tiny_graph_that_ends_with_the_same_case_is_preferred() -> None:
    """P0 is not told of a miss: five operations, out of many that hide them."""
    trial = Trial(COMPONENTS["drift"], resolve("fault:D13"))
    config = COMPONENTS["drift"].executed_config
    asked = Submit(config.requests[0])
    missed = (accidents.RestartP1(), asked, Deliver(), accidents.LoseReport(0))
    noise = (accidents.ClearP1(), asked, accidents.DryRun(config.requests[1]), Deliver(), asked, Deliver())
    run = shrink(trial, trial.run(replace(config, clears=9), (asked, Deliver(), *noise, *missed)))
    assert len(run.steps) == 5
    assert run.mismatch is not None
    assert run.mismatch.clause == "DR-19"


@pytest.mark.parametrize("name", ["drift", "object-store"])
def test_short_runs_lead_to_the_case_that_they_are_for(name: str) -> None:
    model = COMPONENTS[name].model
    for case, runs in short_runs(name).items():
        assert [len(run.operations) for run in runs] == sorted(len(run.operations) for run in runs)
        for config, operations in runs[:3]:
            state = model.initial(config)
            for operation in operations:
                state, outcome = model.step(config, state, operation)
            assert (tag(operations[-1]), outcome.kind) == case


def test_every_graph_of_a_component_gives_short_runs() -> None:
    """A second attempt to make room is made in the ring that is filled twice, and in no other."""
    runs = short_runs("object-store")["put", "made_more_room"]
    assert [(run.config, len(run.operations)) for run in runs] == [(ROUND_AND_ROUND, 11)]


@pytest.mark.parametrize("name", COMPONENTS)
def test_whatever_is_left_out_of_an_operation_shrinking_asks_without_raising(name: str) -> None:
    component = COMPONENTS[name]
    model, config = component.model, component.executed_config
    trial = Trial(component, resolve("reference"))
    state = model.initial(config)
    operations = list(dict.fromkeys(model.operations(config, state)))
    draw = Draw(SimpleNamespace(draw=lambda strategy: b"\0" * 8), [])
    if name not in ("key-replicated", "drift"):
        operations += [component.choose(config, state, draw) for _ in range(60)]
    mismatch = Mismatch("LRU-01", "outcome", "none", 0, None, None, ())
    for operation in operations:
        whole = trial.run(config, (operation,))
        if not whole.steps:
            continue
        shrinker = Shrinker(trial, structs.replace(whole, mismatch=mismatch), 1_000_000)
        for changed in islice(chain(without_members(operation), simpler(operation)), 40):
            assert not shrinker._is_accepted(config, (changed,))


def test_a_question_without_an_answer_is_refused() -> None:
    trial = Trial(COMPONENTS["items"], resolve("reference"))
    mismatch = Mismatch("IT-03", "outcome", "batched", 0, None, None, ())
    run = structs.replace(trial.run(items.Config(), (items.Batch("batched", ((2,),)),)), mismatch=mismatch)
    with pytest.raises(LookupError):
        trial.run(items.Config(), (items.Batch("batched", ()),))
    assert not Shrinker(trial, run, 10)._is_accepted(items.Config(), (items.Batch("batched", ()),))
