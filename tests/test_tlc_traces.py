"""TLC judges event logs by its own model, and says what the check in Python says."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tampering import Line, copied, fields, simulated, tamper, written

from mmcache_ref.oracle.event_log import Log, read_log
from mmcache_ref.oracle.simulation import Plan
from mmcache_ref.oracle.trace_check import check
from mmcache_ref.tlc.manifest import in_models
from mmcache_ref.tlc.traces import DIDS, MODULE, judge

pytestmark = pytest.mark.timeout(900)


def logs_of(folder: Path, protections: tuple[str, ...], count: int) -> list[Log]:
    """Good logs of fifty events, and as many with one field tampered."""
    random = Random(3)
    good = [simulated(folder, Plan("lru", 25, 1, seed, ("all",), protections))[:51] for seed in range(count)]
    bad: list[list[Line]] = []
    for lines in map(copied, good):
        line = random.choice(lines[1:])
        paths = [path for path in fields(line) if path[0] not in ("process", "number", "did")]
        tamper(line, random.choice(paths), random)
        bad.append(lines)
    return [read_log(written(folder, lines)) for lines in (*good, *bad)]


def assert_same_answers(logs: list[Log]) -> None:
    verdicts = judge(logs, seconds=800)
    assert [each.reason for each in verdicts if each.status == "undetermined"] == []
    assert [each.status for each in verdicts] == [check(log)[0].status for log in logs]
    assert {each.status for each in verdicts} == {"conforms", "violates"}
    for verdict in verdicts:
        assert (verdict.status == "violates") == bool(verdict.first)


@pytest.mark.clause("EV-04", "EV-05", "EV-06")
def test_tlc_says_of_a_log_what_the_check_in_python_says(tmp_path: Path) -> None:
    assert_same_answers(logs_of(tmp_path, ("default",), 4))


@pytest.mark.slow
@pytest.mark.clause("EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize("protections", [("default",), ()])
def test_tlc_judges_many_logs_at_once(tmp_path: Path, protections: tuple[str, ...]) -> None:
    assert_same_answers(logs_of(tmp_path, protections, 100))


def test_the_module_and_python_number_alike() -> None:
    module = in_models(f"{MODULE}.tla").read_text()
    listed = module[module.index("Dids ==") :].split("<<", 1)[1].split(">>", 1)[0]
    assert tuple(name.strip().strip('"') for name in listed.split(",")) == DIDS


def test_logs_of_shared_memory_are_not_judged_by_tlc(tmp_path: Path) -> None:
    lines = simulated(tmp_path, Plan("shm", 5))
    assert judge([read_log(written(tmp_path, lines))])[0].status == "undetermined"
