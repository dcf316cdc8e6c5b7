"""A counterexample of TLC is a run: of the Python model, of the reference, and of the seeded fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards import protected, stored, unprotected, violated

from mmcache_ref.model import drift, key_replicated
from mmcache_ref.model.component import Content
from mmcache_ref.model.explore import replay
from mmcache_ref.model.key_replicated import Deliver, Submit
from mmcache_ref.model.pair import Item
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.regressions import runs_directory
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import encode_run, read_run
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.checking import judge
from mmcache_ref.tlc.counterexamples import NoRun, run_of_trace
from mmcache_ref.tlc.manifest import Bound, read_manifest
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import canonical

ENTRIES = {entry.name: (module, entry) for module, entry in read_manifest().entries}
STORED = sorted((runs_directory() / "hazards").glob("*.json"))
BROKEN = [name for name, (_, entry) in ENTRIES.items() if entry.breaks]
HAZARDS = [path.stem for path in STORED if f"{path.stem}.protected" in ENTRIES]
HAZARDS_OF_THE_PAIR = [name for name in HAZARDS if name.startswith("key-replicated-")]
KEPT_BY_THE_CACHES = ("key-replicated-oversize",)
"""Their protection is not one of the protocol, which cannot leave it out; the seeded fault does."""
SEEN_AFTER_A_REQUEST = ("key-replicated-clear-p0", "key-replicated-clear-p1", "key-replicated-restart-p1")
"""They end in a state that no call shows: the two sides do not agree, and the next request meets it."""
ANOTHER = (Item("c", Content(1, 2), True, "image"),)
CLAUSES = {
    **dict.fromkeys(SEEN_AFTER_A_REQUEST, "DR-15"),
    "key-replicated-content-after-loss": "DR-24",
    "key-replicated-mixed-modality": "KR-03",
}
"""What is broken first, where that is not the clause of the property."""
IMPLEMENTATIONS = {"lru-pins-evicted": ("py:broken.lru_evicts_pinned", "LRU-21")}
LRU = Bound("lru", "tiny")


def executed(run: Run, target: str) -> Run:
    return Trial(COMPONENTS[run.component], resolve(target)).run(run.config, run.operations)


def trace(*calls: dict[str, Any]) -> list[TraceStep]:
    return [TraceStep("Init", {}), *(TraceStep("Next", {"call": canonical(call)}) for call in calls)]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_the_reference_is_safe_where_the_model_fails(path: Path) -> None:
    run = read_run(str(path))
    assert executed(run, "reference").mismatch is None
    assert len(executed(run, "reference").steps) == len(run.steps)


@pytest.mark.parametrize("name", BROKEN)
def test_the_seeded_fault_fails_as_the_model_does(name: str) -> None:
    _, entry = ENTRIES[name]
    found = executed(stored(name), f"fault:{entry.fault}")
    assert found.mismatch is not None
    assert found.mismatch.clause == entry.breaks


@pytest.mark.parametrize("name", HAZARDS_OF_THE_PAIR)
def test_the_model_without_the_protection_violates_the_property(name: str) -> None:
    bound = protected(name)
    config = BINDINGS[bound.model].config(
        "tiny", accidents=bound.accidents, protections=[], depth=2, clears=1
    )
    run = stored(name)
    *_, before, last = replay(
        key_replicated, config, key_replicated.initial(config), [step.operation for step in run.steps]
    )
    asked = violated(name, drift.PROPERTIES)
    judged = (
        asked.holds(config, last.state)
        if asked.kind == "state"
        else asked.holds(config, before.state, last.operation, last.outcome, last.state)
    )
    assert judged is False


@pytest.mark.parametrize("name", sorted(set(HAZARDS_OF_THE_PAIR) - set(KEPT_BY_THE_CACHES)))
def test_the_reference_without_the_protection_fails(name: str) -> None:
    run = stored(name)
    operations = [step.operation for step in run.steps]
    if name in SEEN_AFTER_A_REQUEST:
        operations += [Submit(ANOTHER), Deliver(0)]
    taken = frozenset(protected(name).protections)
    for left_out, clause in ((taken, CLAUSES.get(name, ENTRIES[name][1].clauses[0])), (frozenset(), None)):
        trial = Trial(COMPONENTS[run.component], unprotected(left_out))
        found = trial.run(run.config, operations).mismatch
        assert (found and found.clause) == clause


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_run_is_one_of_something_that_fails(path: Path) -> None:
    assert path.stem in {*BROKEN, *HAZARDS, *IMPLEMENTATIONS}


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_broken_implementation_fails_as_the_model_does(name: str) -> None:
    target, clause = IMPLEMENTATIONS[name]
    found = executed(stored(name), target)
    assert found.mismatch is not None
    assert found.mismatch.clause == clause


@pytest.mark.parametrize("name", ["key-replicated-reject", "object-store-ids-restart"])
def test_the_stored_run_is_the_counterexample(name: str) -> None:
    module, entry = ENTRIES[name]
    assert entry.bound is not None
    run = run_of_trace(entry.bound, judge(module, entry).found.trace)
    text = (runs_directory() / "hazards" / f"{name}.json").read_text(encoding="utf-8")
    assert encode_run(run) + "\n" == text


def test_a_step_keeps_its_operation_where_the_broken_model_answers_otherwise() -> None:
    run = run_of_trace(LRU, trace({"op": "put", "key": "a", "nbytes": 1, "kind": "evicted"}))
    assert [(step.operation.key, step.operation.content.nbytes) for step in run.steps] == [("a", 1)]
    assert list(run.steps[0].state["order"]) == ["a"]


def test_what_is_no_step_is_told() -> None:
    with pytest.raises(NoRun, match="step 2"):
        run_of_trace(LRU, trace({"op": "put", "key": "nobody", "nbytes": 1, "kind": "stored"}))
