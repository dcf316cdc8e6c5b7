"""Simulations whose parts are processes that all work at once, and the logs that these write."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tampering import Line, copied, judged
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.model.events import Did
from mmcache_ref.oracle.event_log import read_log
from mmcache_ref.oracle.process_log import ProcessLog
from mmcache_ref.oracle.process_simulation import simulate_in_processes
from mmcache_ref.oracle.simulation import Plan, Simulated
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.trace_check import check
from mmcache_ref.report.simulation import command


def simulated(plan: Plan, target: str = "reference", trace: Path | None = None) -> Simulated:
    return simulate_in_processes(target, resolve(target), plan, trace=trace)


@pytest.mark.clause("EV-02", "EV-03", "EV-04", "EV-05", "EV-06")
def test_the_log_that_the_processes_wrote_is_explained_and_a_tampered_one_is_not(tmp_path: Path) -> None:
    trace = tmp_path / "log"
    plan = Plan("shm", 20, 2, 1, ("abort", "fan-out", "reject"), in_processes=True)
    found = simulated(plan, trace=trace)
    assert (found.status, found.reason) == ("conforms", "")
    log = read_log(trace)
    assert found.judged is not None
    assert found.judged.explained == len(log.entries) == sum(found.operations.values())
    assert {entry.event.process for entry in log.entries} == {"channel", "p0", "w0", "w1"}
    lines = trace.read_bytes().splitlines(keepends=True)
    is_it = [b'"did":"submit"' in line and b'"how":"handle"' in line for line in lines]
    place = is_it.index(True)
    event = msgspec.json.decode(lines[place])
    event["saw"][0]["how"] = "item"
    lines[place] = msgspec.json.encode(event) + b"\n"
    trace.write_bytes(b"".join(lines))
    checked, _ = check(read_log(trace))
    assert checked.status == "violates"
    assert checked.unexplained is not None
    assert checked.unexplained.line == place + 1


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """The lines of a log that several processes wrote."""
    trace = tmp_path_factory.mktemp("numbered") / "log"
    assert simulated(Plan("shm", 20, 2, 3, ("all",), in_processes=True), trace=trace).status == "conforms"
    return [json.loads(line) for line in trace.read_text().splitlines()]


@pytest.mark.clause("EV-07")
def test_what_p0_and_workers_do_has_numbers_of_a_lock(numbered: list[Line]) -> None:
    for event in numbered[1:]:
        is_told_by_others = event["process"] == "channel" or event["did"] == "worker-death"
        assert ("lock" in event) == (not is_told_by_others)
    numbers = [each for event in numbered for each in event.get("lock", ())]
    assert len(set(numbers)) == len(numbers) > 40


def made_by(numbered: list[Line], read: int) -> int:
    """The line in which the message was made that is read in this one."""
    message = numbered[read]["message"]
    return next(place for place, event in enumerate(numbered) if event.get("made") == message)


@pytest.mark.clause("EV-07")
def test_numbers_of_a_lock_that_cannot_be_are_found(numbered: list[Line], tmp_path: Path) -> None:
    reads = [place for place, event in enumerate(numbered) if event.get("did") == "read"]
    first, last = reads[0], reads[-1]
    whole = max(number for event in numbered for number in event.get("lock", ()))

    def found(line: int, lock: list[int]) -> tuple[int, str]:
        tampered = copied(numbered)
        tampered[line]["lock"] = lock
        checked = judged(tmp_path, tampered)
        assert checked.status == "violates"
        assert checked.unexplained is not None
        return checked.unexplained.line, checked.unexplained.clause

    assert found(first, numbered[last]["lock"])[1] == "EV-07"
    assert found(first, numbered[first]["lock"][::-1]) == (first + 1, "EV-07")
    assert found(last, [whole + 2, whole + 1]) == (last + 1, "EV-07")
    asked = made_by(numbered, first)
    assert found(asked, [whole + 1, whole + 2])[1] == "EV-07"


@pytest.mark.parametrize("cache", ["lru", "shm"])
def test_with_every_accident_the_default_protections_keep_all_promises(cache: str) -> None:
    found = simulated(Plan(cache, 30, 2, 2, ("all",), in_processes=True))
    assert (found.status, found.broken, found.reason) == ("conforms", (), ""), found.judged
    assert found.requests == 30
    assert len(found.operations) > 4
    assert found.moved_bytes > 0
    assert found.lookups >= found.hits


@pytest.mark.clause("SC-34", "SC-35", "SC-42")
def test_without_protections_a_promise_falls() -> None:
    accidents = ("abort", "fan-out", "reject")
    found = simulated(Plan("shm", 60, 2, 0, accidents, protections=(), in_processes=True))
    assert found.status == "violates"
    assert {each.clause for each in found.broken} <= {"SC-31", "SC-34", "SC-35", "SC-42"}
    assert command(found).endswith("--processes")


@pytest.mark.clause("EV-02")
def test_who_takes_the_place_of_a_process_goes_on_with_its_numbers(tmp_path: Path) -> None:
    first = ProcessLog(str(tmp_path), "p0")
    first.write(Did, "clear", None)
    first.close()
    path = tmp_path / "p0.ndjson"
    path.write_bytes(path.read_bytes() + b'{"event":"step","proc')
    second = ProcessLog(str(tmp_path), "p0")
    second.write(Did, "clear", None)
    second.close()
    assert [msgspec.json.decode(line)["number"] for line in path.read_bytes().splitlines()] == [0, 1]


def test_the_command_prints_the_verdict_and_writes_the_log(tmp_path: Path) -> None:
    trace = tmp_path / "log"
    words = ["simulate", "--cache", "lru", "--requests", "15", "--processes", "--trace", str(trace)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "reference lru conforms (seed 0)" in done.output
    assert "events: " in done.output
    assert Counter(entry.event.process for entry in read_log(trace).entries)["p1"] > 0


@pytest.mark.slow
@pytest.mark.upstream
def test_the_published_caches_write_logs_that_are_explained() -> None:
    found = simulated(Plan("shm", 40, 2, 1, ("abort", "fan-out"), in_processes=True), "vllm@0.32.0")
    assert found.status == "conforms", (found.broken, found.judged)


@pytest.mark.parametrize("ending", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_a_simulation_that_is_ended_leaves_no_process_and_no_segment(ending: signal.Signals) -> None:
    words = ["simulate", "--cache", "shm", "--requests", "1000000", "--processes"]
    parent = subprocess.Popen(
        [sys.executable, "-m", "mmcache_ref", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        _wait_until(lambda: len(_children(parent.pid)) >= 4 and _has_segment(parent.pid))
        parent.send_signal(ending)
        # Every process has inherited the pipe: it ends when the last of them has ended.
        parent.communicate(timeout=120)
    finally:
        parent.kill()
    assert parent.returncode != 0
    assert not _has_segment(parent.pid)


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in found.read_text().split()] if found.exists() else []


def _has_segment(process: int) -> bool:
    return any(Path("/dev/shm").glob(f"mmo{process}.*"))
