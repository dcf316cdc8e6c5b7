"""What one machine finds, another finds at once: runs in a shared example database."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis.database import DirectoryBasedExampleDatabase, InMemoryExampleDatabase

from mmcache_ref import reference
from mmcache_ref.oracle import sharing, suite
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.fuzz import Fuzzed, fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.sharing import DatabaseUnavailable, keep_runs, kept_runs, open_database
from mmcache_ref.oracle.stored import encode_run, read_run
from mmcache_ref.oracle.suite import Options, judge, repeat_stored
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import ComponentVerdict, clause_verdict

TESTS = Path(__file__).parent
TOUCHES = "py:broken.lru_touch_keeps_order"
"""Breaks LRU-09."""
TOUCH_RUN = (
    '{"component":"lru","config":{"budget":2},"operations":['
    '{"op":"put","key":"a","content":{"nbytes":1,"fill":1}},'
    '{"op":"put","key":"b","content":{"nbytes":1,"fill":1}},{"op":"touch","key":"a"}]}'
)
FINE_RUN = '{"component":"lru","config":{"budget":2},"operations":[{"op":"clear"}]}'
OPTIONS = Options(components=("lru",))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's own copy is kept in the current folder."""
    monkeypatch.chdir(tmp_path)


def on_trial(target: str = TOUCHES) -> Trial:
    return Trial(COMPONENTS["lru"], resolve(target))


def verdict_on(run: Run) -> ComponentVerdict:
    return ComponentVerdict("lru", "violates", clauses=(clause_verdict("LRU-09", 1, run, "fuzz", 0),))


def broken_run() -> Run:
    run = read_run(TOUCH_RUN)
    return on_trial().run(run.config, run.operations)


def test_a_run_that_broke_a_clause_is_kept_for_its_target_component_and_profile() -> None:
    database = InMemoryExampleDatabase()
    run = broken_run()
    keep_runs(database, TOUCHES, "safe", [verdict_on(run)])
    assert kept_runs(database, TOUCHES, OPTIONS) == (encode_run(run),)
    assert kept_runs(database, "reference", OPTIONS) == ()
    assert kept_runs(database, TOUCHES, msgspec.structs.replace(OPTIONS, profile="upstream")) == ()
    assert kept_runs(database, TOUCHES, msgspec.structs.replace(OPTIONS, components=("sender",))) == ()


def test_a_run_that_a_target_does_not_repeat_is_not_kept() -> None:
    database = InMemoryExampleDatabase()
    run = msgspec.structs.replace(broken_run(), is_repeatable=False)
    keep_runs(database, TOUCHES, "safe", [verdict_on(run)])
    assert kept_runs(database, TOUCHES, OPTIONS) == ()


def test_a_folder_serves_several_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = str(tmp_path / "shared")
    for machine in ("one", "two"):
        (tmp_path / machine).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    keep_runs(open_database(shared), TOUCHES, "safe", [verdict_on(broken_run())])
    monkeypatch.chdir(tmp_path / "two")
    assert len(kept_runs(open_database(shared), TOUCHES, OPTIONS)) == 1


def test_a_machine_keeps_its_own_copy(tmp_path: Path) -> None:
    keep_runs(open_database(str(tmp_path / "lost")), TOUCHES, "safe", [verdict_on(broken_run())])
    assert len(kept_runs(open_database(str(tmp_path / "another")), TOUCHES, OPTIONS)) == 1


def test_a_kept_run_that_still_breaks_its_clause_is_reported() -> None:
    found = repeat_stored(on_trial(), [FINE_RUN, TOUCH_RUN])
    assert list(found) == ["LRU-09"]
    assert len(found["LRU-09"].steps) == 3


def test_the_shortest_of_several_kept_runs_is_reported() -> None:
    longer = TOUCH_RUN.replace('[{"op":"put","key":"a"', '[{"op":"clear"},{"op":"put","key":"a"')
    assert len(read_run(longer).steps) == 4
    assert len(repeat_stored(on_trial(), [longer, TOUCH_RUN])["LRU-09"].steps) == 3


def test_a_run_that_ends_earlier_than_it_did_is_shrunk() -> None:
    longer = TOUCH_RUN.replace('[{"op":"put","key":"a"', '[{"op":"clear"},{"op":"put","key":"a"')
    longer = longer.replace('{"op":"touch","key":"a"}', '{"op":"touch","key":"a"},{"op":"clear"}')
    assert len(read_run(longer).steps) == 5
    assert len(repeat_stored(on_trial(), [longer])["LRU-09"].steps) == 2


def test_a_kept_run_that_the_target_keeps_again_is_no_violation() -> None:
    assert repeat_stored(on_trial("reference"), [TOUCH_RUN]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "half of {",
        '{"component":"sender","config":{"budget":2},"operations":[{"op":"clear"}]}',
        '{"component":"lru","config":{"budget":2},"operations":[{"op":"explode"}]}',
    ],
)
def test_what_is_no_run_of_the_component_is_left_out(text: str) -> None:
    assert list(repeat_stored(on_trial(), [text, TOUCH_RUN])) == ["LRU-09"]


def test_kept_runs_come_before_fuzzing_which_does_not_look_for_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Fuzzed] = []

    def spy(trial: Trial, **options: Any) -> Fuzzed:
        found.append(fuzz(trial, **options))
        return found[-1]

    monkeypatch.setattr(suite, "fuzz", spy)
    options = msgspec.structs.replace(OPTIONS, stages=("fuzz",), examples=60, runs=(TOUCH_RUN,))
    verdict = judge(COMPONENTS["lru"], resolve(TOUCHES), options, seconds=600)
    (broken,) = verdict.broken
    assert (broken.id, broken.stage, broken.seed) == ("LRU-09", "shared", None)
    assert found[0].runs == {}
    assert verdict.coverage.fuzz_examples >= 60


def test_runs_alone_can_be_judged() -> None:
    options = msgspec.structs.replace(OPTIONS, stages=(), runs=(TOUCH_RUN,))
    assert judge(COMPONENTS["lru"], resolve(TOUCHES), options, seconds=0).status == "violates"
    kept = judge(COMPONENTS["lru"], Namespace(reference, "reference"), options, seconds=0)
    assert (kept.status, kept.coverage.fuzz_operations, kept.coverage.edges) == ("conforms", 0, 0)


def test_kept_runs_do_not_make_an_empty_fuzz_stage_a_pass() -> None:
    options = msgspec.structs.replace(OPTIONS, stages=("fuzz",), examples=0, runs=(FINE_RUN,))
    verdict = judge(COMPONENTS["lru"], Namespace(reference, "reference"), options, seconds=600)
    assert verdict.status == "undetermined"


def test_a_place_that_cannot_be_opened_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DatabaseUnavailable, match=r"examples cannot be kept in .*: there is no folder"):
        open_database(str(tmp_path / "file" / "inside"))
    with pytest.raises(DatabaseUnavailable, match=f"there is no folder {tmp_path / 'no'}"):
        open_database(str(tmp_path / "no" / "where"))
    assert not (tmp_path / "no").exists()
    with pytest.raises(DatabaseUnavailable, match="examples cannot be kept there"):
        open_database(str(tmp_path / "file"))
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(DatabaseUnavailable, match="pip install redis"):
        open_database("redis://localhost:6379/0")


def judged(place: Path, folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A pytest of its own in that folder, as on another machine."""
    machine = place / folder
    machine.mkdir()
    (machine / "conftest.py").write_text(
        "from hypothesis import settings\n"
        "settings.register_profile('few', max_examples=2)\n"
        "settings.register_profile('many', max_examples=30)\n",
        encoding="utf-8",
    )
    (machine / "torch.py").write_text("raise ImportError('there is no torch here')\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    chosen = f"mmcache({TOUCHES})::lru::fuzz"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:timeout", chosen, *arguments],
        env={**environment, "PYTHONPATH": str(TESTS)},
        cwd=machine,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def test_what_one_process_finds_another_finds_at_once(tmp_path: Path) -> None:
    seed = next(
        seed for seed in range(1, 100) if not fuzz(on_trial(), seconds=600, seed=seed, max_examples=2).runs
    )
    share = ("--mmcache-examples", str(tmp_path / "shared"))
    little = ("--hypothesis-profile=few", f"--mmcache-seed={seed}")

    alone = judged(tmp_path, "alone", *little)
    assert alone.returncode == 0, alone.stdout
    first = judged(tmp_path, "first", "--hypothesis-profile=many", "--mmcache-seed=0", *share)
    assert first.returncode == 1, first.stdout
    second = judged(tmp_path, "second", *little, *share)
    assert second.returncode == 1, second.stdout
    assert f"LRU-09 broken by {TOUCHES}, lru" in second.stdout


class Failing(InMemoryExampleDatabase):
    def save(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("gone")

    def fetch(self, key: bytes) -> Iterator[bytes]:
        raise ConnectionError("gone")


def test_a_database_that_fails_meanwhile_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "open_database", lambda place: Failing())
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    options = Options(components=("factories",), seconds=0)
    with pytest.warns(RuntimeWarning, match="examples cannot be shared at there: gone"):
        verdict = sharing.judge_sharing("py:broken.factories_replicate_to_two", options, "there")
    assert verdict.status == "violates"


def test_conform_shares_too(tmp_path: Path) -> None:
    target = "py:broken.factories_replicate_to_two"
    shared = tmp_path / "shared"
    arguments = ("--component", "factories", "--seconds", "0", "--examples", str(shared))
    done = subprocess.run(
        [sys.executable, "-m", "mmcache_ref", "conform", target, *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"--examples {shared}" in done.stdout.splitlines()[-1]
    options = Options(components=("factories",))
    (kept,) = kept_runs(DirectoryBasedExampleDatabase(shared), target, options)
    assert read_run(kept).component == "factories"
