"""Simulations: what they count, what they find, and that nothing is left."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle.families import FAMILIES, promised
from mmcache_ref.oracle.simulation import Plan, Simulated, simulate
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.report.simulation import command, search

pytestmark = pytest.mark.timeout(300)
ALL = ("all",)


def of(cache: str, target: str = "reference", **options: object) -> Simulated:
    return simulate(target, resolve(target), Plan(cache, **{"requests": 60, **options}))  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_segment_is_left")
@pytest.mark.parametrize("cache", ["lru", "shm"])
@pytest.mark.parametrize("accidents", [(), ALL])
def test_the_reference_conforms_and_leaves_nothing(cache: str, accidents: tuple[str, ...]) -> None:
    found = of(cache, accidents=accidents)
    assert (found.status, found.reason, found.broken) == ("conforms", "", ())
    assert found.requests == 60
    assert 0 < found.hits < found.lookups
    assert found.moved_bytes > found.peak_bytes > 0


def test_a_seed_always_gives_the_same_simulation() -> None:
    first, again, other = (of("lru", accidents=ALL, seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first.operations != other.operations


def test_without_accidents_there_are_none() -> None:
    assert of("lru").operations.keys() == {"submit", "deliver"}
    assert of("shm").operations.keys() <= {"submit", "read", "finish", "clear"}


def test_every_reference_is_acknowledged_by_every_worker() -> None:
    found = of("shm", workers=3)
    assert found.work["acknowledgements"] == 3 * found.work["references"]
    assert found.stranded_bytes == 0


@pytest.mark.clause("SC-35", "SC-38")
def test_a_rejected_request_strands_bytes_where_nothing_protects() -> None:
    found = of("shm", accidents=("reject",), protections=())
    assert found.status == "violates"
    assert found.run is None
    assert {"SC-35", "SC-38"} == {each.clause for each in found.broken}
    assert found.stranded_bytes > 0
    assert of("shm", accidents=("reject",)).stranded_bytes == 0


@pytest.mark.clause("SC-42")
def test_an_engine_that_dies_ends_the_simulation() -> None:
    found = of("shm", accidents=("resume", "clear-in-flight"), protections=(), requests=400)
    assert "SC-42" in {each.clause for each in found.broken}
    assert found.requests < 400
    assert "engine died" in found.reason


@pytest.mark.clause("DR-13")
def test_a_rejected_request_of_the_pair_is_named_where_nothing_protects() -> None:
    found = of("lru", accidents=("reject",), protections=())
    assert "DR-13" in {each.clause for each in found.broken}
    assert found.work["misses"] > 0


@pytest.mark.parametrize(
    ("cache", "fault", "accident", "clause"),
    [("lru", "D01", "reject", "DR-13"), ("shm", "S04", "fan-out", "SC-39")],
)
def test_a_fault_ends_with_a_short_run_that_names_its_clause(
    cache: str, fault: str, accident: str, clause: str
) -> None:
    found = of(cache, f"fault:{fault}", accidents=(accident,))
    assert found.status == "violates"
    assert found.run is not None
    assert found.run.mismatch is not None
    assert found.run.mismatch.clause == clause
    assert len(found.run.steps) < 10
    assert clause in found.said


def test_a_target_without_such_caches_is_undetermined() -> None:
    found = of("shm", "py:types")
    assert found.status == "undetermined"
    assert "ShmObjectStoreSenderCache" in found.reason


def test_what_is_promised_without_accidents_is_asked_only_then() -> None:
    family = FAMILIES["lru"]
    calm, rough = (family.config(accidents, ("default",), 1) for accidents in ((), ("abort",)))
    assert promised(family, calm).keys() - promised(family, rough).keys() == {"no-miss", "same-order"}


def test_the_commands_that_repeat_and_search() -> None:
    plan = Plan("shm", 60, 3, 5, ("abort", "fan-out"), ())
    assert command(Simulated("fault:S04", plan, "violates")) == (
        "mmcache-ref simulate fault:S04 --cache shm --workers 3 --requests 60 --with abort,fan-out "
        "--protect none --seed 5"
    )
    assert search(plan) == "mmcache-ref explore shm-caches --with abort,fan-out"
    lru = Plan("lru", accidents=("drop",))
    assert search(lru) == "mmcache-ref explore key-replicated --with drop --protect default,keep-touched"


def test_the_command_prints_the_counts_and_the_verdict() -> None:
    result = CliRunner().invoke(app, ["simulate", "--cache", "shm", "--requests", "30", "--seed", "9"])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "reference shm conforms (seed 9)"
    names = {line.split("  ")[0].strip() for line in result.stdout.splitlines()}
    assert {"requests", "hits", "misses", "retries", "bytes moved", "peak bytes", "stranded bytes"} <= names


def test_the_command_as_json_and_its_exit_codes() -> None:
    options = ["simulate", "--cache", "shm", "--requests", "30", "--with", "reject", "--protect", "none"]
    result = CliRunner().invoke(app, [*options, "--format", "json"])
    assert result.exit_code == 2
    told = json.loads(result.stdout)
    assert told["status"] == "violates"
    assert told["plan"] == {
        "cache": "shm",
        "requests": 30,
        "workers": 2,
        "seed": 0,
        "accidents": ["reject"],
        "protections": [],
        "in_processes": False,
    }
    assert "explore shm-caches --with reject" in CliRunner().invoke(app, options).stdout
    lacking = CliRunner().invoke(app, ["simulate", "py:types", "--cache", "shm"])
    assert lacking.exit_code == 3


def test_two_samples_of_a_request_are_the_accident_that_they_lead_to() -> None:
    options = ["simulate", "--cache", "shm", "--requests", "20", "--with", "abort,n2", "--format", "json"]
    told = json.loads(CliRunner().invoke(app, options).stdout)
    assert told["plan"]["accidents"] == ["abort", "n2"]
    explored = CliRunner().invoke(app, ["explore", "shm-caches", "--with", "n2", "--format", "json"])
    assert json.loads(explored.stdout)["config"]["accidents"] == ["fan-out"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["simulate", "--with", "n2"],
            "unknown accident: n2. Known: abort, all, bypass, .*--cache shm has n2.",
        ),
        (
            ["simulate", "--cache", "shm", "--with", "hail"],
            "accident: hail. Known: .*, forge, n2, oversize, ",
        ),
        (["explore", "lru", "--with", "n2"], "lru has no accidents, .* shm-caches has n2."),
    ],
)
def test_an_unknown_accident_is_told_as_it_was_typed_with_those_that_there_are(
    options: list[str], said: str
) -> None:
    done = CliRunner().invoke(app, options)
    assert done.exit_code != 0
    assert re.search(said, " ".join(done.output.replace("│", " ").split())), done.output


@pytest.mark.parametrize("wrong", [["--with", "hail"], ["--protect", "hope"], ["--cache", "disk"]])
def test_an_unknown_name_is_a_usage_error_that_lists_the_known(wrong: list[str]) -> None:
    command_line = [sys.executable, "-m", "mmcache_ref", "simulate", *wrong]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert wrong[1] in done.stderr
