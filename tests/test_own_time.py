"""Own time: what a process computes and sleeps, and not what it waits for a processor."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcache_ref.oracle import own_time, supervisor
from mmcache_ref.oracle.own_time import OwnTime
from mmcache_ref.oracle.suite import Options
from mmcache_ref.oracle.supervisor import judge_target

HOUR = 3600


def fake(folder: Path, pid: int, queued: float) -> None:
    """Show a process that has waited for a processor for so many seconds."""
    path = folder / f"{pid}/schedstat"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{10**9} {round(queued * 10**9)} 12\n")


def test_waiting_for_a_processor_is_no_own_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own_time, "PROCESSES", tmp_path)
    monkeypatch.setattr(time, "monotonic", iter([100.0, 130.0, 200.0, 204.0]).__next__)
    fake(tmp_path, 7, 5.0)
    clock = OwnTime(7)
    fake(tmp_path, 7, 25.5)
    assert clock.seconds() == 9.5
    assert OwnTime(7).seconds() == 4.0


@pytest.mark.parametrize("text", ["", "5", "5 many 3"])
def test_where_nobody_counts_it_is_the_time_that_passes(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(own_time, "PROCESSES", tmp_path)
    assert own_time.queued(7) == 0.0
    fake(tmp_path, 7, 0.0)
    (tmp_path / "7/schedstat").write_text(text)
    assert own_time.queued(7) == 0.0


@pytest.fixture
def sleeper() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/schedstat").is_file(), reason="nobody counts it here")
def test_sleeping_is_own_time_and_so_is_computing(sleeper: int) -> None:
    asleep, awake = OwnTime(sleeper), OwnTime(os.getpid())
    # It goes on for both, or this does not end.
    while asleep.seconds() < 0.3 or awake.seconds() < 0.3:
        pass


def test_a_worker_that_has_no_processor_is_not_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = iter(range(0, 1_000 * HOUR, HOUR)).__next__
    monkeypatch.setattr(own_time, "queued", lambda pid: float(waited()))
    verdict = judge_target("reference", Options(("factories",), seconds=0), silence=1e-9)
    assert [each.status for each in verdict.components] == ["conforms"]


def test_a_worker_that_sleeps_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_time, "queued", lambda pid: 0.0)
    monkeypatch.setattr(supervisor, "LOADING_SECONDS", 0.01)
    verdict = judge_target("reference", Options(("factories",), seconds=0))
    assert [each.status for each in verdict.components] == ["undetermined"]
    assert "did not come back" in verdict.components[0].reason
