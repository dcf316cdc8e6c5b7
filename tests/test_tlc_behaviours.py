"""A run is a TLA+ behaviour, which TLC follows step by step; and a behaviour is that run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.regressions import runs_directory
from mmcache_ref.oracle.run import Run, Step
from mmcache_ref.oracle.stored import encode_run, read_run
from mmcache_ref.tlc import behaviours
from mmcache_ref.tlc.behaviours import Followed, NoBehaviour, follow, module_of, records
from mmcache_ref.tlc.counterexamples import run_of_trace
from mmcache_ref.tlc.manifest import read_manifest
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import parse

pytestmark = pytest.mark.timeout(300)

ENTRIES = {entry.name: entry for _, entry in read_manifest().entries}
STORED = {path.stem: path for path in sorted((runs_directory() / "hazards").glob("*.json"))}
ONE_PUT = Run("lru", lru.Config(2), "safe", (Step(lru.Put("a", Content(1, 1)), None, None, {}),))


@pytest.mark.parametrize("name", STORED)
def test_a_behaviour_of_a_run_is_that_run_again(name: str) -> None:
    stored = read_run(str(STORED[name]))
    bound = ENTRIES[name].bound
    assert bound is not None
    trace = [TraceStep("Next", dict(record.pairs)) for record in records(stored)]
    assert encode_run(run_of_trace(bound, trace)) == encode_run(stored)


@pytest.mark.parametrize(
    "name",
    [
        "key-replicated-drop",
        "lru-pins-evicted",
        "object-store-touch-counts",
        "ring-buffer-begin-after-the-wrap",
        "shm-caches-resume",
    ],
)
def test_tlc_follows_a_run(name: str) -> None:
    stored = read_run(str(STORED[name]))
    assert follow(stored) == Followed(len(stored.operations), len(stored.operations))


def test_tlc_takes_no_step_to_another_state(monkeypatch: pytest.MonkeyPatch) -> None:
    right: list[Any] = records(ONE_PUT)
    wrong = parse(
        '[call |-> [op |-> "put", key |-> "a", nbytes |-> 1, kind |-> "stored"], view |-> <<<<>>, {}>>]'
    )
    monkeypatch.setattr(behaviours, "records", lambda run: [right[0], wrong])
    found = follow(ONE_PUT)
    assert (found.steps, found.taken, found.is_behaviour, found.error) == (1, 0, False, "")


def test_a_record_tells_the_call_and_the_state_after_it() -> None:
    first, put = records(ONE_PUT)
    assert first["view"] == parse("<<<<>>, {}>>")
    assert put["call"] == parse('[op |-> "put", key |-> "a", nbytes |-> 1, kind |-> "stored"]')
    assert put["view"] == parse('<<<<[key |-> "a", size |-> 1]>>, {}>>')


def test_what_no_module_models_is_no_behaviour() -> None:
    with pytest.raises(NoBehaviour, match="no TLA\\+ module models sender, but"):
        module_of(Run("sender", None, "safe", ()))


def test_the_command_prints_the_module_and_says_that_tlc_follows_it(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(encode_run(ONE_PUT))
    shown = CliRunner().invoke(app, ["models", "--behaviour", str(file)])
    assert shown.exit_code == 0
    assert "TLC takes 1 of 1 steps: a behaviour of the model" in shown.output
    assert "EXTENDS Lru, TLC" in shown.output
    assert CliRunner().invoke(app, ["models", "--behaviour", "{}"]).exit_code == 4
