"""What does not come back, whichever component it is: named by the clause that its component has for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.model import lru
from mmcache_ref.oracle import guard as guard_module
from mmcache_ref.oracle.adapters.lru import LruAdapter
from mmcache_ref.oracle.advice import advice
from mmcache_ref.oracle.component import Component
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import MOST_HANGS, execute_graphs
from mmcache_ref.oracle.fatal import fatal_run, fatal_verdict
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.suite import Options, judge
from mmcache_ref.oracle.supervisor import judge_target
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import TargetVerdict
from mmcache_ref.oracle.walking import walk_graphs

CLAUSES = {name: "LRU-18" if name == "lru" else "IF-20" for name in COMPONENTS}
HANGING = {
    "ring-buffer": ("ring_frees_when_nothing_is_left", "free"),
    "object-store": ("store_waits_for_readers", "put"),
    "shm-pair": ("shm_pair_worker_reads_until_it_can", "receive"),
}
"""A target of tests/broken that hangs, and the operation in which it does."""


class Spins:
    """A target that does not come back from any operation."""

    def __init__(self, *given: Any) -> None:
        pass

    def perform(self, operation: Any) -> Any:
        while True:
            pass

    def observe(self) -> Mapping[str, Any]:
        return {}


class SpinsWhenRead(Spins):
    """A target whose state cannot be read in any time."""

    def perform(self, operation: Any) -> Any:
        return None

    def observe(self) -> Mapping[str, Any]:
        return self.perform_for_ever()

    def perform_for_ever(self) -> Mapping[str, Any]:
        while True:
            pass


class SpinsWhenTouched(LruAdapter):
    """An LRU whose touch does not come back, and changes nothing before."""

    asked_afterwards = 0
    is_broken_off = False

    def perform(self, operation: Any) -> Any:
        type(self).asked_afterwards += self.is_broken_off
        if isinstance(operation, lru.Touch):
            self.is_broken_off = True
            while True:
                pass
        return super().perform(operation)


@pytest.fixture
def short_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.05)


def spinning(name: str, adapter: Any = Spins) -> Component:
    return replace(COMPONENTS[name], adapter=adapter)


def first_operation(component: Component) -> Any:
    config = component.executed_config
    return next(iter(component.model.operations(config, component.model.initial(config))))


@pytest.mark.clause("IF-20", "LRU-18")
@pytest.mark.usefixtures("short_bound")
@pytest.mark.parametrize("adapter", [Spins, SpinsWhenRead])
@pytest.mark.parametrize("name", COMPONENTS)
def test_a_hang_breaks_the_clause_that_its_component_has_for_it(name: str, adapter: Any) -> None:
    component = spinning(name, adapter)
    with hang_guard() as guard:
        trial = Trial(component, resolve("reference"), guard=guard)
        run = trial.run(component.executed_config, [first_operation(component)])
    assert run.mismatch is not None
    assert run.mismatch.clause == CLAUSES[name]
    assert run.mismatch.clause in component.clauses
    assert trial.tally.mismatched == {CLAUSES[name]}


@pytest.mark.parametrize("name", COMPONENTS)
def test_no_other_clause_about_hangs_is_said_to_be_judged(name: str) -> None:
    judged = set(COMPONENTS[name].clauses)
    assert judged & set(CLAUSES.values()) == {CLAUSES[name]}


@pytest.mark.usefixtures("short_bound")
@pytest.mark.parametrize("name", ["lru", "ring-buffer"])
def test_a_target_that_hangs_again_and_again_is_not_asked_further(name: str) -> None:
    with hang_guard() as guard:
        trial = Trial(spinning(name), resolve("reference"), guard=guard)
        executed = execute_graphs(trial)
        walked = walk_graphs(trial)
    assert list(executed.runs) == list(walked.runs) == [CLAUSES[name]]
    assert executed.mismatching_edges == MOST_HANGS
    assert walked.mismatching == 1


@pytest.mark.usefixtures("short_bound")
def test_fuzzing_ends_after_some_hangs_and_asks_nothing_of_a_target_that_was_broken_off() -> None:
    with hang_guard() as guard:
        trial = Trial(spinning("lru", SpinsWhenTouched), resolve("reference"), guard=guard)
        fuzzed = fuzz(trial, seconds=600, seed=0, max_examples=500)
    assert list(fuzzed.runs) == ["LRU-18"]
    assert fuzzed.examples < 100
    assert SpinsWhenTouched.asked_afterwards == 0


@pytest.mark.parametrize("name", COMPONENTS)
def test_who_says_nothing_for_a_long_time_breaks_it_too(name: str) -> None:
    component = COMPONENTS[name]
    operations = [first_operation(component)]
    run = fatal_run(
        name, "safe", component.executed_config, operations, is_blocked=True, detail="it did not come back"
    )
    verdict = fatal_verdict(run, "it did not come back", None)
    assert [each.id for each in verdict.broken] == [CLAUSES[name]]


@pytest.mark.parametrize("name", COMPONENTS)
def test_profile_upstream_judges_it_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.05)
    monkeypatch.setattr("mmcache_ref.oracle.suite.shared_state", lambda trial: None)
    options = Options((name,), "upstream", stages=())
    verdict = judge(spinning(name), resolve("reference"), options, seconds=0)
    assert CLAUSES[name] in {each.id for each in verdict.clauses}


@pytest.mark.clause("IF-20")
@pytest.mark.parametrize("name", HANGING)
def test_the_sentence_tells_the_operation_and_what_must_end(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.5)
    target, operation = HANGING[name]
    with hang_guard() as guard:
        trial = Trial(COMPONENTS[name], resolve(f"py:broken.{target}"), guard=guard)
        (run,) = execute_graphs(trial, only="IF-20").runs.values()
    said = sentence(run)
    assert f"Operation {len(run.steps)}, {operation}" in said
    assert "did not come back" in said
    assert f"{advice('IF-20').why} (IF-20)." in said
    assert "LRU" not in said


def judged_by_the_command(target: str, component: str, silence: float) -> TargetVerdict:
    return judge_target(f"py:{target}", Options((component,), seconds=0), silence=silence)


@pytest.fixture
def targets_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.mark.slow
@pytest.mark.clause("IF-20")
@pytest.mark.usefixtures("targets_on_the_path")
@pytest.mark.parametrize("name", HANGING)
def test_the_command_names_what_spins(name: str) -> None:
    target, operation = HANGING[name]
    (verdict,) = judged_by_the_command(f"broken.{target}", name, silence=120.0).components
    assert verdict.status == "violates"
    assert [each.id for each in verdict.broken] == ["IF-20"]
    (broken,) = verdict.broken
    assert broken.run is not None
    assert broken.run.operations[-1].__struct_config__.tag == operation


@pytest.mark.slow
@pytest.mark.clause("IF-20")
@pytest.mark.usefixtures("targets_on_the_path")
def test_the_command_names_what_waits_for_ever() -> None:
    (verdict,) = judged_by_the_command("rogue.store_blocks", "object-store", silence=20.0).components
    assert [each.id for each in verdict.broken] == ["IF-20"]
    assert "did not come back" in verdict.broken[0].sentence
