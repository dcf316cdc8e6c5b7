"""A counterexample of TLC is a run: of the Python model, of the reference, and of the seeded fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import encode_run, read_run
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.tlc.checking import judge
from mmcache_ref.tlc.counterexamples import NoRun, behaviour_of_run, run_of_trace
from mmcache_ref.tlc.manifest import Bound, models_directory, read_manifest
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import canonical, parse

ENTRIES = {entry.name: (module, entry) for module, entry in read_manifest().entries}
STORED = sorted((models_directory() / "runs").glob("*.json"))
BROKEN = [name for name, (_, entry) in ENTRIES.items() if entry.breaks]
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
    found = executed(read_run(str(models_directory() / "runs" / f"{name}.json")), f"fault:{entry.fault}")
    assert found.mismatch is not None
    assert found.mismatch.clause == entry.breaks


@pytest.mark.parametrize("name", ["key-replicated-reject", "object-store-ids-restart"])
def test_the_stored_run_is_the_counterexample(name: str) -> None:
    module, entry = ENTRIES[name]
    assert entry.bound is not None
    run = run_of_trace(entry.bound, judge(module, entry).found.trace)
    stored = (models_directory() / "runs" / f"{name}.json").read_text(encoding="utf-8")
    assert encode_run(run) + "\n" == stored


def test_a_step_keeps_its_operation_where_the_broken_model_answers_otherwise() -> None:
    run = run_of_trace(LRU, trace({"op": "put", "key": "a", "nbytes": 1, "kind": "evicted"}))
    assert [(step.operation.key, step.operation.content.nbytes) for step in run.steps] == [("a", 1)]
    assert list(run.steps[0].state["order"]) == ["a"]


def test_what_is_no_step_is_told() -> None:
    with pytest.raises(NoRun, match="step 2"):
        run_of_trace(LRU, trace({"op": "put", "key": "nobody", "nbytes": 1, "kind": "stored"}))


def test_a_run_becomes_a_behaviour() -> None:
    run = run_of_trace(LRU, trace({"op": "put", "key": "a", "nbytes": 1, "kind": "stored"}))
    name, _, value = behaviour_of_run(LRU, run.operations).partition(" == ")
    steps = parse(value)
    assert name == "Behaviour"
    assert [step["call"]["op"] for step in steps] == ["initial", "put"]
    assert steps[1]["view"] == parse('<<<<[key |-> "a", size |-> 1]>>, {}>>')
