"""Runs that end the target's process are shortened by repeating them, a bounded number of times."""

from __future__ import annotations

import pytest

from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.fatal import MOST_TRIES, fatal_run, fatal_verdict, shrunk
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.worker import Progressed

ONE = Content(1)


def run_of(*operations: lru.Operation) -> Run:
    return fatal_run("lru", "safe", lru.Config(2), operations, is_blocked=False, detail="ended")


def test_what_the_end_does_not_need_is_left_out() -> None:
    long = run_of(*(lru.Get(key) for key in "abcabc"), lru.Put("a", ONE), lru.Get("b"), lru.Pin("a"))

    def repeat(candidate: Run) -> Run | None:
        return candidate if lru.Put("a", ONE) in candidate.operations else None

    assert shrunk(long, repeat).operations == (lru.Put("a", ONE), lru.Pin("a"))


@pytest.mark.parametrize("ends", [True, False])
def test_so_many_processes_are_started_and_no_more(ends: bool) -> None:
    tries = 0

    def repeat(candidate: Run) -> Run | None:
        nonlocal tries
        tries += 1
        return candidate if ends and len(candidate.steps) >= 40 else None

    shrunk(run_of(*(lru.Get("a") for _ in range(100))), repeat)
    assert tries == MOST_TRIES


def test_what_was_broken_before_the_end_is_not_kept() -> None:
    run = run_of(lru.Touch("a"))
    done = Progressed("lru", "exhaustive", 7, {"LRU-04": 3, "LRU-08": 2, "LRU-10": 1}, ("LRU-08",))
    verdict = fatal_verdict(run, "ended", done)
    statuses = {each.id: each.status for each in verdict.clauses}
    assert statuses["LRU-10"] == "broken"
    assert statuses["LRU-04"] == "kept"
    assert statuses["LRU-09"] == "not reached"
    assert "LRU-08" not in statuses
    assert "LRU-08 was broken before that" in verdict.reason
    assert verdict.coverage.edges == 7
    assert verdict.coverage.graph_edges > 7
