"""The lock that readers share: one holder among threads and processes, and free when that one is killed."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.protocol.robust_lock import RobustLock

PATIENCE = 120.0
"""Seconds after which a test gives up: a loaded machine may take long to start a process."""
DESCRIPTORS = Path("/proc/self/fd")
METHODS = [name for name in ("spawn", "fork") if name in multiprocessing.get_all_start_methods()]

Start = Callable[..., tuple[Any, Any]]


@pytest.fixture(params=METHODS)
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts `work(pipe, *arguments)` in a process; gives it, and our end of the pipe."""
    context = multiprocessing.get_context(request.param)
    started: list[tuple[Any, Any]] = []

    def begin(work: Callable[..., None], *arguments: Any) -> tuple[Any, Any]:
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
        process.start()
        theirs.close()
        started.append((process, ours))
        return process, ours

    yield begin
    for process, pipe in started:
        process.kill()
        process.join(PATIENCE)
        process.close()
        pipe.close()


def answer(pipe: Any) -> Any:
    assert pipe.poll(PATIENCE), "the process does not answer"
    return pipe.recv()


def hold(pipe: Any, lock: RobustLock) -> None:
    """Take the lock, say so, and give it back when told; until then keep it."""
    with lock:
        pipe.send("held")
        pipe.recv()
    pipe.send("released")
    pipe.recv()


def take(pipe: Any, lock: RobustLock, timeout: float | None) -> None:
    pipe.send("waits")
    pipe.send(lock.acquire(timeout=timeout))
    lock.release()


def try_once(pipe: Any, lock: RobustLock) -> None:
    pipe.send(lock.acquire(block=False))


def release_only(pipe: Any, lock: RobustLock) -> None:
    try:
        lock.release()
    except ValueError as error:
        pipe.send(str(error))


def count_up(pipe: Any, lock: RobustLock, counter: Any, rounds: int) -> None:
    """Two threads that add to what all processes share, by a load and a later store."""

    def work() -> None:
        for _ in range(rounds):
            with lock:
                seen = counter.value
                time.sleep(0)
                counter.value = seen + 1

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.send("counted")


@pytest.mark.clause("SC-46")
def test_one_thread_of_one_process_holds_it_at_a_time(start: Start) -> None:
    lock, counter = RobustLock(), multiprocessing.get_context("spawn").RawValue("l", 0)
    pipes = [start(count_up, lock, counter, 200)[1] for _ in range(2)]
    ours: tuple[Any, Any] = multiprocessing.Pipe()
    count_up(ours[0], lock, counter, 200)
    assert [answer(pipe) for pipe in (*pipes, ours[1])] == ["counted"] * 3
    assert counter.value == 3 * 2 * 200


@pytest.mark.clause("SC-46")
@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_a_holder_that_is_killed_leaves_it_to_who_waits(start: Start, timeout: float | None) -> None:
    lock = RobustLock()
    holder, holds = start(hold, lock)
    assert answer(holds) == "held"
    assert not lock.acquire(block=False)
    _, waits = start(take, lock, timeout)
    assert answer(waits) == "waits"
    assert not waits.poll(0.05)
    os.kill(holder.pid, signal.SIGKILL)
    assert answer(waits) is True


@pytest.mark.clause("SC-46")
def test_a_holder_that_is_stopped_keeps_it(start: Start) -> None:
    lock = RobustLock()
    holder, holds = start(hold, lock)
    assert answer(holds) == "held"
    os.kill(holder.pid, signal.SIGSTOP)
    try:
        assert not lock.acquire(timeout=0.05)
    finally:
        os.kill(holder.pid, signal.SIGCONT)
    holds.send("go on")
    assert answer(holds) == "released"
    assert lock.acquire(timeout=PATIENCE)
    lock.release()


def test_a_child_is_not_the_holder_because_its_parent_is(start: Start) -> None:
    lock = RobustLock()
    with lock:
        _, pipe = start(try_once, lock)
        assert answer(pipe) is False
        _, other = start(release_only, lock)
        assert answer(other) == "this thread does not hold the lock that it releases"
        assert answer(start(try_once, lock)[1]) is False
    _, free = start(try_once, lock)
    assert answer(free) is True


def test_a_thread_waits_for_a_thread_and_no_longer_than_it_may() -> None:
    lock = RobustLock()
    took: list[bool] = []
    with lock:
        for arguments in ({"block": False}, {"timeout": 0.01}, {"timeout": -1.0}):
            thread = threading.Thread(target=lambda more=arguments: took.append(lock.acquire(**more)))
            thread.start()
            thread.join(PATIENCE)
    assert took == [False, False, False]
    assert lock.acquire(timeout=0)
    lock.release()


def test_who_does_not_hold_it_cannot_release_it() -> None:
    lock = RobustLock()
    with pytest.raises(ValueError, match="does not hold the lock"):
        lock.release()
    raised: list[str] = []

    def release() -> None:
        try:
            lock.release()
        except ValueError as error:
            raised.append(str(error))

    with lock:
        thread = threading.Thread(target=release)
        thread.start()
        thread.join(PATIENCE)
    assert len(raised) == 1
    with pytest.raises(ValueError, match="does not hold the lock"):
        lock.release()


def test_what_interrupts_a_wait_leaves_the_lock_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = RobustLock()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lock, "_take_from_processes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lock.acquire()
    assert lock.acquire(timeout=0)
    lock.release()


def test_it_reaches_another_process_at_its_start_only() -> None:
    with pytest.raises(RuntimeError, match="should only be shared between processes through inheritance"):
        pickle.dumps(RobustLock())


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="this system does not list open descriptors")
def test_no_file_and_no_descriptor_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()
    before = os.listdir(DESCRIPTORS)
    locks = [RobustLock() for _ in range(8)]
    assert len(os.listdir(DESCRIPTORS)) == len(before) + 8
    assert list(tmp_path.iterdir()) == []
    del locks
    gc.collect()
    assert len(os.listdir(DESCRIPTORS)) == len(before)
