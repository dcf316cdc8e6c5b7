"""The bound on what one operation may cost."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from mmcache_ref.oracle import guard as guard_module
from mmcache_ref.oracle.guard import TargetHung, hang_guard

BOUND = 0.05
"""Seconds of CPU time."""


@pytest.fixture(autouse=True)
def short_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", BOUND)


def spin() -> None:
    while True:
        pass


@pytest.mark.clause("LRU-18")
def test_what_spins_is_stopped() -> None:
    with hang_guard() as guard, pytest.raises(TargetHung), guard:
        spin()


def test_what_swallows_exceptions_is_stopped() -> None:
    def swallow() -> None:
        while True:
            with contextlib.suppress(Exception):
                spin()

    with hang_guard() as guard, pytest.raises(TargetHung), guard:
        swallow()


def test_waiting_costs_no_cpu_time() -> None:
    with hang_guard() as guard, guard:
        time.sleep(3 * BOUND)


def test_each_operation_has_the_whole_bound() -> None:
    def burn(seconds: float) -> None:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    with hang_guard() as guard:
        for _ in range(5):
            with guard:
                burn(BOUND / 4)


def test_nothing_is_bounded_between_two_operations() -> None:
    with hang_guard() as guard:
        with guard:
            pass
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_the_handler_of_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with contextlib.suppress(TargetHung), hang_guard() as guard, guard:
        spin()
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_outside_the_main_thread_there_is_no_bound() -> None:
    seen: list[bool] = []

    def enter() -> None:
        with hang_guard() as guard, guard:
            seen.append(guard.enabled)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [False]
