"""TLC judges event logs by its own model, and says what the check in Python says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tampering import Line, copied, fields, named, simulated, tamper, written
from test_event_logs import PAIR

from mmcache_ref.oracle.event_log import Log, read_log
from mmcache_ref.oracle.simulation import Plan
from mmcache_ref.oracle.trace_check import check
from mmcache_ref.tlc.event_codes import DIDS, HOWS
from mmcache_ref.tlc.manifest import in_models
from mmcache_ref.tlc.traces import MODULES, judge

pytestmark = pytest.mark.timeout(900)


def paths_told(line: Line) -> list[tuple[Any, ...]]:
    """What an event tells besides who did what."""
    return [path for path in fields(line) if path[0] not in ("process", "number", "did")]


def logs_of(folder: Path, cache: str, protections: tuple[str, ...], count: int) -> list[Log]:
    """Good logs of fifty events, and as many with one field tampered."""
    random = Random(3)
    good = [simulated(folder, Plan(cache, 25, 2, seed, ("all",), protections))[:51] for seed in range(count)]
    bad: list[list[Line]] = []
    for lines in map(copied, good):
        told = [(line, tampered) for line in lines[1:] if (tampered := paths_told(line))]
        line, paths = random.choice(told)
        tamper(line, random.choice(paths), random)
        bad.append(lines)
    return [read_log(written(folder, lines)) for lines in (*good, *bad)]


def assert_same_answers(logs: list[Log], alike: float = 0.9) -> None:
    """Of each log both say the same, and of so many that they reject they name the same event."""
    verdicts = judge(logs, seconds=800)
    expected = [check(log)[0] for log in logs]
    assert [each.reason for each in verdicts if each.status == "undetermined"] == []
    assert [each.status for each in verdicts] == [each.status for each in expected]
    assert {each.status for each in verdicts} == {"conforms", "violates"}
    lines_named = [
        (verdict.first.line, each.unexplained.line)
        for verdict, each in zip(verdicts, expected, strict=True)
        if verdict.first is not None and each.unexplained is not None
    ]
    assert sum(tlc == python for tlc, python in lines_named) >= alike * len(lines_named)


def logs_tampered_everywhere(folder: Path, cache: str, seeds: int) -> tuple[list[Log], set[str]]:
    """A log for each field of each kind of event that occurs, with that field tampered, and one untouched;
    and the kinds of events."""
    random = Random(5)
    tampered: dict[tuple[str, str], list[Line]] = {}
    for seed in range(seeds):
        protections = ("default",) if seed % 2 else ()
        good = simulated(folder, Plan(cache, 10, 1, seed, ("all",), protections))[:21]
        for place, line in enumerate(good[1:], 1):
            for path in fields(line):
                if (line["did"], named(path)) not in tampered:
                    lines = tampered[line["did"], named(path)] = copied(good)
                    tamper(lines[place], path, random)
    logs = [read_log(written(folder, lines)) for lines in (good, *tampered.values())]
    return logs, {did for did, _ in tampered}


@pytest.mark.clause("EV-04", "EV-05", "EV-06")
def test_tlc_says_of_a_log_what_the_check_in_python_says(tmp_path: Path) -> None:
    assert_same_answers(logs_of(tmp_path, "lru", ("default",), 4))


@pytest.mark.clause("EV-06", "SC-44")
@pytest.mark.parametrize("protections", [("default",), ("clear-on-death", "recoverable-miss"), ()])
def test_of_logs_in_which_workers_die_both_say_the_same(tmp_path: Path, protections: tuple[str, ...]) -> None:
    logs = logs_of(tmp_path, "shm", protections, 8)
    assert any(event.did == "worker-death" for log in logs for _, event in log.entries)
    assert_same_answers(logs, 0.5)


@pytest.mark.clause("EV-01", "EV-02", "EV-03", "EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize(("cache", "alike"), [("lru", 0.9), ("shm", 0.7)])
def test_of_a_log_with_any_field_tampered_both_say_the_same(tmp_path: Path, cache: str, alike: float) -> None:
    logs, kinds = logs_tampered_everywhere(tmp_path, cache, 40)
    assert kinds == MODULES[cache].dids
    assert_same_answers(logs, alike)


@pytest.mark.clause("EV-06")
def test_a_message_that_a_worker_reads_twice_is_read_before_a_clear_takes_its_chunks(tmp_path: Path) -> None:
    content = {"nbytes": 1, "fill": 3}
    header = {"event": "header", "version": 1, "cache": "shm", "capacity": 12, "protections": []}
    submitted = {
        "event": "request", "did": "submit", "request": [{"key": "c", **content}], "children": 2,
        "saw": [{"result": "carried", "how": "handle", "content": content}], "made": 0,
    }  # fmt: skip
    read = {"event": "message", "did": "read", "message": 0, "keys": ["c"], "saw": [content]}
    cleared = {"event": "step", "did": "clear", "saw": None}
    lines: list[Line] = [
        header | {"limit": 4, "workers": 2},
        submitted | {"process": "p0", "number": 0},
        *[read | {"process": worker, "number": number} for worker in ("w0", "w1") for number in (0, 1)],
        cleared | {"process": "p0", "number": 1},
    ]
    log = read_log(written(tmp_path, lines))
    assert check(log)[0].status == "conforms"
    assert [each.status for each in judge([log])] == ["conforms"]


@pytest.mark.clause("EV-07")
def test_of_two_events_that_the_lock_orders_none_comes_too_early(tmp_path: Path) -> None:
    made, taken = (0, 1), (2, 3)
    logs = []
    for ours, theirs in ((made, taken), (taken, made)):
        lines = copied(PAIR[:3])
        lines[1]["lock"], lines[2]["lock"] = ours, theirs
        logs.append(read_log(written(tmp_path, lines)))
    assert_same_answers(logs)


@pytest.mark.clause("EV-07")
def test_a_long_log_with_numbers_of_a_lock_is_judged_whole(tmp_path: Path) -> None:
    lines = simulated(tmp_path, Plan("shm", 150, 2, 1, ("all",), ("default",)))
    locked = [line for line in lines[1:] if line["process"] != "channel"]
    for number, line in enumerate(locked):
        line["lock"] = (2 * number, 2 * number + 1)
    assert len(locked) > 400
    (verdict,) = judge([read_log(written(tmp_path, lines))])
    assert verdict.status == "conforms"


@pytest.mark.slow
@pytest.mark.clause("EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize("protections", [("default",), ()])
@pytest.mark.parametrize(("cache", "alike"), [("lru", 0.9), ("shm", 0.7)])
def test_tlc_judges_many_logs_at_once(
    tmp_path: Path, cache: str, alike: float, protections: tuple[str, ...]
) -> None:
    assert_same_answers(logs_of(tmp_path, cache, protections, 100), alike)


@pytest.mark.parametrize(("table", "names"), [("Dids", DIDS), ("Hows", HOWS)])
def test_the_module_and_python_number_alike(table: str, names: tuple[str, ...]) -> None:
    module = in_models("EventLogs.tla").read_text()
    listed = module[module.index(f"{table} ==") :].split("<<", 1)[1].split(">>", 1)[0]
    assert tuple(name.strip().strip('"') for name in listed.split(",")) == names
