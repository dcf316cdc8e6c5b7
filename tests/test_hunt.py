"""The hunt: every technique's part, the matrix made of them, what is demanded of it, and the command."""

from __future__ import annotations

import dataclasses
import gc
import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from mmcache_ref import cli
from mmcache_ref.cli import hunting as hunt_command
from mmcache_ref.cli import reading
from mmcache_ref.faults import FAULTS
from mmcache_ref.oracle import hunting
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graphs
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.hunt import Hunt, Part, Sighting, Technique, hunt
from mmcache_ref.oracle.hunting import Task, WorkerLost, perform, perform_all, tasks
from mmcache_ref.oracle.known_process import Known, began, is_running
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Mismatch, Run, Step
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.report.hunt import hunt_json, hunt_markdown, hunt_text

FEW = range(3)
"""Seeds of the fast tests."""
BEYOND_THE_GRAPH = {"S18"}
"""One attempt to free falls short only in a ring that was filled, freed in part and filled again: eleven
operations, of a ring with room for three objects. The tiny graph has neither."""


@pytest.fixture(autouse=True)
def what_other_tests_left_costs_no_time() -> Iterator[None]:
    """A hunt takes an operation that needs long for one that hangs, and garbage collection counts, too."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in BEYOND_THE_GRAPH])
def test_the_exhaustive_stage_finds_it_by_its_first_clause(name: str) -> None:
    fault = FAULTS[name]
    component = COMPONENTS[fault.component]
    clause = fault.clauses[0]
    with hang_guard() as guard:
        trial = Trial(component, resolve(f"fault:{name}"), guard=guard)
        assert clause in execute_graphs(trial, only=clause).runs


@pytest.mark.parametrize("name", sorted(BEYOND_THE_GRAPH))
def test_what_is_beyond_the_graph_is_found_by_outcomes_alone(name: str) -> None:
    part = perform(Task(name, "fuzz-L0", FEW))
    assert [each.clause for each in part.sightings] == [FAULTS[name].clauses[0]] * len(FEW)
    assert max(each.length for each in part.sightings) <= 13


@pytest.mark.parametrize("name", FAULTS)
def test_fuzzing_finds_it_and_names_a_clause_of_it(name: str) -> None:
    part = perform(Task(name, "fuzz-best", FEW))
    assert len(part.sightings) == part.tried == len(FEW)
    assert {each.clause for each in part.sightings} & set(FAULTS[name].clauses)


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.is_in_model])
def test_a_search_of_the_model_finds_it_once_its_rule_is_off(name: str) -> None:
    part = perform(Task(name, "explore"))
    assert part.sightings[0].clause in FAULTS[name].clauses


def test_where_the_model_has_no_such_rule_it_says_so() -> None:
    part = perform(Task("D09", "explore"))
    assert (part.tried, part.reason) == (0, "the model has no such rule to switch off")


def test_outcomes_alone_show_a_ghost_by_the_hang_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunting, "HANG_SECONDS", 0.05)
    part = perform(Task("D06", "fuzz-L0", range(1)))
    assert len(part.sightings) == 1


def test_what_is_found_follows_from_the_seed() -> None:
    first, second = (perform(Task("D09", "fuzz-best", range(2))) for _ in range(2))
    assert [msgspec.structs.replace(each, seconds=0) for each in first.sightings] == [
        msgspec.structs.replace(each, seconds=0) for each in second.sightings
    ]
    assert first.runs == second.runs


def test_a_technique_that_finds_nothing_gives_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is replaced here, the component does not use: nothing is found, however long it is fuzzed."""
    monkeypatch.setattr(hunting, "MOST_OPERATIONS", 50)
    harmless = dataclasses.replace(FAULTS["D15"], component="lru")
    monkeypatch.setitem(FAULTS, "D15", harmless)
    part = perform(Task("D15", "fuzz-best", range(20)))
    assert (part.tried, part.sightings, part.reason) == (2, (), "nothing within 50 operations")


def test_every_seed_is_fuzzed_once_at_each_level() -> None:
    planned = tasks(["D02", "D03"], 50)
    for technique in ("fuzz-L0", "fuzz-best"):
        mine = [task for task in planned if (task.fault, task.technique) == ("D03", technique)]
        assert [seed for task in mine for seed in task.seeds] == list(range(50))
    for technique in ("exhaustive", "explore"):
        assert sum(task.technique == technique for task in planned) == 2


def test_tasks_are_shared_between_processes_of_which_none_remains() -> None:
    planned = [Task("D17", "fuzz-best", range(1)), Task("D15", "explore")]
    seen: list[Part] = []
    parts = perform_all(planned, 2, seen.append)
    assert {(part.fault, part.technique) for part in parts} == {("D17", "fuzz-best"), ("D15", "explore")}
    assert seen == parts
    assert multiprocessing.active_children() == []


LONG = Task("D06", "fuzz-L0", range(1000))
"""Takes many minutes: a ghost spins until it is stopped, again and again."""


@pytest.mark.timeout(60)
def test_a_task_that_fails_ends_the_hunt_and_its_processes() -> None:
    with pytest.raises(KeyError, match="D99"):
        perform_all([Task("D99", "explore"), LONG], 2)
    assert multiprocessing.active_children() == []


@pytest.mark.timeout(60)
def test_a_process_that_is_killed_is_reported() -> None:
    planned = [Task("D17", "fuzz-best", range(1)), LONG]

    def kill(part: Part) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    with pytest.raises(WorkerLost, match=r"one of: D06 fuzz-L0$"):
        perform_all(planned, 1, kill)
    assert multiprocessing.active_children() == []


def parent_of(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@pytest.mark.timeout(120)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
def test_a_hunt_that_is_killed_leaves_no_process() -> None:
    words = [sys.executable, "-m", "mmcache_ref", "hunt", "D06", "--seeds", "1000"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        try:
            children: list[Known] = []
            while len(children) < 3 and command.poll() is None:  # two workers and the resource tracker
                time.sleep(0.1)
                numbers = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
                children = [
                    Known(each, began(each) or 0) for each in numbers if parent_of(each) == command.pid
                ]
        finally:
            command.kill()
    while any(map(is_running, children)):
        time.sleep(0.1)


def run_of(clause: str, length: int) -> Run:
    """A run that breaks a clause after so many operations."""
    mismatch = Mismatch(clause, "outcome", "kind", 0, None, None)
    return Run("receiver", {"budget": 2}, "safe", tuple(Step(place) for place in range(length)), mismatch)


def fuzzed(technique: Technique, tried: int, *sightings: Sighting) -> Part:
    """A part of D05 with these sightings."""
    return Part(
        "D05",
        technique,
        tried,
        sightings,
        {each.clause: run_of(each.clause, each.length) for each in sightings},
    )


EXHAUSTIVE = Part(
    "D05",
    "exhaustive",
    1,
    (Sighting("IF-16", 31, 0.02, 1),),
    {"IF-16": run_of("IF-16", 1), "IF-15": run_of("IF-15", 2)},
)
EXPLORE = Part("D05", "explore", 0, reason="no such rule")
L0 = fuzzed("fuzz-L0", 2, Sighting("IF-16", 30, 0.5, 2, seed=0), Sighting("IF-16", 10, 0.1, 1, seed=1))
BEST = fuzzed("fuzz-best", 2, Sighting("IF-15", 20, 0.2, 4, seed=0), Sighting("KR-09", 40, 0.4, 2, seed=1))


def matrix(*parts: Part) -> Hunt:
    """The matrix of these parts."""
    return hunt("0", 2, parts)


def test_the_matrix_has_medians_lengths_and_shares() -> None:
    (row,) = matrix(BEST, EXPLORE, L0, EXHAUSTIVE).rows
    assert row.shortest == {"IF-15": 2, "IF-16": 1}
    assert [cell.technique for cell in row.cells] == ["exhaustive", "fuzz-L0", "fuzz-best", "explore"]
    best = row.cell("fuzz-best")
    assert (best.tried, best.found, best.named) == (2, 2, 1)
    assert (best.operations, best.seconds, best.length, best.longest) == (30, 0.3, 3, 4)
    assert best.clauses == {"IF-15": 1, "KR-09": 1}
    assert best.excess == 2  # IF-15 has a run of 2; for KR-09 none is known, and the shortest of all has 1
    assert row.cell("explore").reason == "no such rule"


def test_the_matrix_does_not_depend_on_which_task_was_done_first() -> None:
    parts = [EXHAUSTIVE, L0, BEST, EXPLORE]
    halves = [msgspec.structs.replace(L0, tried=1, sightings=(each,)) for each in L0.sightings]
    assert matrix(*parts) == matrix(*reversed(parts))
    assert matrix(EXHAUSTIVE, *halves, BEST) == matrix(EXHAUSTIVE, *reversed(halves), BEST)


def test_of_two_runs_as_short_that_of_the_first_seed_is_kept() -> None:
    runs = [msgspec.structs.replace(run_of("IF-16", 2), config={"budget": budget}) for budget in (2, 3)]
    first, second = (
        Part("D05", "fuzz-best", 1, (Sighting("IF-16", 9, 0.1, 2, seed=seed),), {"IF-16": run})
        for seed, run in enumerate(runs)
    )
    assert matrix(first, second).rows[0].run == matrix(second, first).rows[0].run == runs[0]


def test_the_run_that_is_kept_is_the_exhaustive_one_of_the_first_clause() -> None:
    assert matrix(BEST, L0, EXHAUSTIVE).rows[0].run == EXHAUSTIVE.runs["IF-16"]
    blind = msgspec.structs.replace(EXHAUSTIVE, sightings=(), runs={})
    assert matrix(blind, L0, BEST).rows[0].run == L0.runs["IF-16"]


def test_where_the_graph_shows_nothing_the_shortest_is_what_fuzzing_found() -> None:
    blind = msgspec.structs.replace(EXHAUSTIVE, sightings=(), runs={})
    longer = fuzzed(
        "fuzz-best", 2, Sighting("IF-16", 9, 0.1, 5, seed=0), Sighting("IF-16", 9, 0.1, 2, seed=1)
    )
    (row,) = matrix(blind, L0, longer).rows
    assert row.shortest == {"IF-16": 1}
    assert row.cell("fuzz-best").excess == 4


def test_the_demands_hold_of_a_good_matrix() -> None:
    assert matrix(EXHAUSTIVE, L0, BEST, EXPLORE).is_kept


@pytest.mark.parametrize(
    ("parts", "failing", "what"),
    [
        ((msgspec.structs.replace(EXHAUSTIVE, sightings=()), BEST), 0, "D05 by 1"),
        ((EXHAUSTIVE, L0, fuzzed("fuzz-best", 20, *BEST.sightings)), 1, "D05 from 2 of 20"),
        ((EXHAUSTIVE, L0, fuzzed("fuzz-best", 1, Sighting("IF-16", 9, 0.1, 4))), 2, "D05 by 3"),
    ],
)
def test_a_demand_that_fails_says_of_which_fault(parts: tuple[Part, ...], failing: int, what: str) -> None:
    found = matrix(*parts)
    assert not found.is_kept
    assert [bool(demand.failures) for demand in found.demands] == [place == failing for place in range(3)]
    assert found.demands[failing].failures == (what,)


def test_a_matrix_as_text() -> None:
    console = Console(width=160)
    with console.capture() as captured:
        console.print(hunt_text(matrix(EXHAUSTIVE, L0, BEST, EXPLORE)))
    text = captured.get()
    for expected in ("D05 receiver", "2 / 2", "30 op, 0.30 s", "run 3, longest 4", "named: 1; else KR-09 1"):
        assert expected in text
    assert text.count("holds:") == 3


def test_a_matrix_as_markdown_is_one_table() -> None:
    text = hunt_markdown(matrix(EXHAUSTIVE, L0, BEST, EXPLORE))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {6}


def test_a_matrix_as_json_has_every_figure() -> None:
    decoded = json.loads(hunt_json(matrix(EXHAUSTIVE, L0, BEST, EXPLORE)))
    assert decoded["rows"][0]["cells"][2]["clauses"] == {"IF-15": 1, "KR-09": 1}
    assert decoded["rows"][0]["run"]["mismatch"]["clause"] == "IF-16"
    assert decoded["demands"][0]["failures"] == []


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of `mmcache-ref` with these arguments, in this process."""
    monkeypatch.setattr(sys, "argv", ["mmcache-ref", *arguments])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    return exit_info.value.code if isinstance(exit_info.value.code, int) else 0


def test_the_command_prints_stores_and_exits_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(
        hunting, "perform_all", lambda planned, jobs, progress: [EXHAUSTIVE, L0, BEST, EXPLORE]
    )
    assert call(monkeypatch, "hunt", "d05", "--seeds", "2", "--format", "json", "--store", str(tmp_path)) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["fault"] == "D05"
    assert json.loads((tmp_path / "D05.json").read_text())["clause"] == "IF-16"


def test_the_command_exits_with_2_when_a_demand_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunt_command, "perform_all", lambda planned, jobs, progress: [BEST])
    assert call(monkeypatch, "hunt", "D05", "--seeds", "2") == 2


@pytest.mark.parametrize("command", ["hunt", "faults"])
def test_an_unknown_fault_is_a_usage_error(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, command, "D99") == 1
    assert "D02" in capsys.readouterr().err


def test_faults_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(reading, "output", Console(width=200, highlight=False))
    assert call(monkeypatch, "faults") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(FAULTS)


def test_a_fault_is_told_with_its_rule_and_the_commands_that_show_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "faults", "d03") == 0
    told = capsys.readouterr().out
    for expected in (
        "reference.promises:PromisedEntries.hold",
        "KR-13  “Sender: from its touch",
        "mmcache-ref conform fault:D03 --component sender",
        "mmcache-ref replay fault:D03 ",
        "mmcache-ref explore key-replicated --with oversize",
    ):
        assert expected in told


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_demands_hold_over_a_hundred_seeds() -> None:
    found = hunt("0", 100, perform_all(tasks(list(FAULTS), 100), 2))
    assert [demand.failures for demand in found.demands] == [(), (), ()]
