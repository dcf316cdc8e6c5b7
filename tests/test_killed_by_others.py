"""Processes that somebody kills who has nothing to do with the run: no verdict on the target, but no hang."""

from __future__ import annotations

import multiprocessing
import os
from types import SimpleNamespace
from typing import Any

import pytest
from parts_in_processes import kill_while_made

from mmcache_ref import reference
from mmcache_ref.oracle.mishaps.judge import ROUNDS, judge
from mmcache_ref.oracle.mishaps.rounds import Options
from mmcache_ref.oracle.mishaps.soak import soak
from mmcache_ref.oracle.process_simulation import simulate_in_processes
from mmcache_ref.oracle.simulation import Plan
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import RobustLock

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("no_segment_is_left")]


class Crashing(reference.ShmObjectStoreReceiverCache):
    """Takes its process along."""

    def get_and_update_features(self, features: Any) -> Any:
        os._exit(3)


def crashing() -> Any:
    return SimpleNamespace(**{**vars(reference), "ShmObjectStoreReceiverCache": Crashing})


def kill_some(which: int) -> None:
    """One of the processes that this one has started, the oldest first."""
    started = sorted(multiprocessing.active_children(), key=lambda each: each.pid or 0)
    victim = started[which % len(started)]
    victim.kill()
    victim.join()


@pytest.mark.clause("SC-46", "SC-47", "SC-49", "DR-32")
@pytest.mark.parametrize("cache", ["shm", "lru"])
def test_a_simulation_goes_on_and_is_undetermined(cache: str) -> None:
    def progress(requests: int) -> None:
        if requests in (8, 16, 24):
            kill_some(requests // 8)

    plan = Plan(cache, 32, 2, 1, (), in_processes=True)
    found = simulate_in_processes("reference", resolve("reference"), plan, progress=progress)
    assert (found.status, found.broken, found.requests) == ("undetermined", (), 32)
    assert found.reason.startswith("somebody else killed ")


@pytest.mark.clause("SC-42")
def test_a_process_that_ends_of_itself_is_the_target_s_fault() -> None:
    target = f"py:{__name__}:crashing"
    found = simulate_in_processes(target, resolve(target), Plan("shm", 10, 1, 1, (), in_processes=True))
    assert found.status == "violates"
    assert [each.clause for each in found.broken] == ["SC-42"]
    assert "w0 was lost, to which nothing was done" in found.broken[0].operation
    assert "exit code is 3" in found.broken[0].operation


@pytest.mark.parametrize("cache", ["shm", "lru"])
def test_rounds_go_on_and_what_follows_is_not_held_against_the_target(cache: str) -> None:
    mishap = {"shm": "stop-reader", "lru": "stop-p1"}[cache]
    with ROUNDS[cache]("reference", Options(requests=30, cache=cache), RobustLock) as rounds:
        with rounds.session(1) as session:
            rounds.live_through(session, mishap, 1)
            kill_some(0)
            assert rounds.live_through(session, mishap, 2) == (True, [])
        del session
        assert rounds.killed == {"p0": 1}
        kill_some(1)  # a process that only waits to be taken
        assert rounds.perform(mishap, 3) == (True, [])
    assert rounds.killed_in_words() == "somebody else killed processes meanwhile: p0 1 ×"
    assert rounds.left_behind() == []


@pytest.mark.clause("SC-52")
@pytest.mark.parametrize("part", ["p0", "w0", "w1"])
def test_a_session_that_is_begun_anew_has_no_more_processes_than_the_one_before(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ROUNDS["shm"]("reference", Options(requests=30), RobustLock) as rounds:
        assert rounds.perform("stop-reader", 1) == (True, [])
        kill_while_made(monkeypatch, part)
        assert rounds.perform("stop-reader", 2) == (True, [])
        assert rounds.killed == {part: 1}
        assert len(multiprocessing.active_children()) == 3


def test_a_judgement_with_such_a_death_is_undetermined(monkeypatch: pytest.MonkeyPatch) -> None:
    kill_while_made(monkeypatch, "w0")
    judged = judge("reference", Options(requests=30, seconds=0), only=("stop-reader",))
    assert (judged.status, judged.mishaps[0].broken) == ("undetermined", ())
    assert judged.reason == "somebody else killed processes meanwhile: w0 1 ×"
    monkeypatch.undo()
    kill_while_made(monkeypatch, "w0")
    soaked = soak("reference", Options(requests=30), 0)
    assert (soaked.status, soaked.reason) == ("undetermined", judged.reason)


def test_a_side_that_is_killed_as_it_starts_breaks_off_the_round_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kill_while_made(monkeypatch, "p0")
    judged = judge("reference", Options(requests=30, seconds=0, cache="lru"), only=("stop-p1", "stop-p0"))
    assert [(each.rounds, each.broken) for each in judged.mishaps] == [(0, ()), (1, ())]
    assert judged.reason == "somebody else killed processes meanwhile: p0 1 ×"
