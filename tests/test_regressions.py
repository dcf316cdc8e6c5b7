"""The shortest run of each seeded fault: the model still says the same, the reference follows it, the fault
leaves it at the last step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mmcache_ref.faults import FAULTS
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.hunt import Hunt, Row
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.regressions import Regression, regressions, run_file, runs_directory, store_runs
from mmcache_ref.oracle.run import Run, plain
from mmcache_ref.oracle.targets import resolve

KEPT = regressions()
each = pytest.mark.parametrize(("kept", "run"), KEPT.values(), ids=KEPT)


def as_stored(value: Any) -> Any:
    """A value as a file has it."""
    return msgspec.json.decode(msgspec.json.encode(plain(value), order="deterministic"))


def repeated(target: str, run: Run) -> Run:
    """The run on a target."""
    trial = Trial(COMPONENTS[run.component], resolve(target), run.profile)
    return trial.run(run.config, run.operations)


def test_each_fault_has_one() -> None:
    assert set(KEPT) == set(FAULTS)


@each
def test_the_model_says_what_is_stored(kept: Regression, run: Run) -> None:
    model = COMPONENTS[run.component].model
    state = model.initial(run.config)
    for operation, step in zip(run.operations, kept.steps, strict=True):
        state, outcome = model.step(run.config, state, operation)
        assert as_stored(outcome.result) == step.expected
        seen = as_stored(model.observe(run.config, state))
        assert {aspect: seen.get(aspect, "unseen") for aspect in step.state} == step.state


@each
def test_the_reference_follows_the_model(kept: Regression, run: Run) -> None:
    done = repeated("reference", run)
    assert done.mismatch is None
    assert done.operations == run.operations


@each
def test_the_fault_leaves_it_at_the_last_step(kept: Regression, run: Run) -> None:
    done = repeated(f"fault:{kept.fault}", run)
    assert done.mismatch is not None
    assert (done.mismatch.clause, done.mismatch.aspect) == (kept.clause, kept.aspect)
    assert done.operations == run.operations
    assert kept.clause in FAULTS[kept.fault].clauses


def test_what_is_stored_is_read_back(tmp_path: Path) -> None:
    kept, run = KEPT["D03"]
    found = repeated("fault:D03", run)
    row = Row("D03", "title", "sender", ("KR-13",), {}, (), found)
    without = Row("D04", "title", "sender", ("KR-13",), {}, ())
    store_runs(Hunt("0", 1, (row, without), ()), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["D03.json"]
    again, its_run = regressions(tmp_path)["D03"]
    assert its_run == run
    assert msgspec.structs.replace(again, steps=()) == msgspec.structs.replace(kept, steps=())
    assert [step.expected for step in again.steps] == [step.expected for step in kept.steps]


def test_the_file_of_a_fault_is_found() -> None:
    assert run_file("D03") == runs_directory() / "D03.json"
    assert run_file("D99") is None


def test_a_file_that_is_no_regression_is_refused(tmp_path: Path) -> None:
    (tmp_path / "D01.json").write_text('{"fault": "D01"}')
    with pytest.raises(BadRun, match=r"D01\.json"):
        regressions(tmp_path)
