"""Readers of the object store that are killed while they hold the lock that all readers share."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stores import Store, count, handle_of, make

from mmcache_ref.protocol.robust_lock import RobustLock
from mmcache_ref.reference import object_chunks

__all__ = ["make"]

PATIENCE = 120.0
CONTEXT = multiprocessing.get_context("spawn")


class StopsInside:
    """The lock of a reader that says when it has it, or is about to give it back, and goes no further."""

    def __init__(self, lock: Any, pipe: Any, before_release: bool) -> None:
        self._lock = lock
        self._pipe = pipe
        self._before_release = before_release

    def acquire(self, *arguments: Any, **more: Any) -> bool:
        is_mine = bool(self._lock.acquire(*arguments, **more))
        if not self._before_release:
            self._stop()
        return is_mine

    def release(self) -> None:
        self._stop()

    def _stop(self) -> None:
        self._pipe.send("inside")
        self._pipe.recv()


def read_and_stop(pipe: Any, handle: Any, named: Any, before_release: bool) -> None:
    handle.reader_lock = StopsInside(handle.reader_lock, pipe, before_release)
    Store.create_from_handle(handle).get(*named)


@pytest.fixture
def killed_inside() -> Iterator[Callable[..., None]]:
    """Lets a process read an object and kills it while it holds the lock."""
    started: list[Any] = []

    def kill(writer: Store, lock: Any, key: str, *, before_release: bool) -> None:
        handle = writer.handle()
        handle.reader_lock = lock
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(
            target=read_and_stop, args=(theirs, handle, handle_of(writer, key), before_release), daemon=True
        )
        process.start()
        started.append(process)
        assert ours.poll(PATIENCE)
        assert ours.recv() == "inside"
        os.kill(process.pid, signal.SIGKILL)
        process.join(PATIENCE)
        assert process.exitcode == -signal.SIGKILL

    yield kill
    for process in started:
        process.kill()
        process.join(PATIENCE)


@pytest.mark.clause("SC-46", "OS-20", "OS-32")
@pytest.mark.parametrize(("before_release", "counted"), [(False, 0), (True, 1)])
def test_the_others_read_on_after_a_reader_was_killed_with_the_lock(
    make: Callable[..., Store], killed_inside: Callable[..., None], before_release: bool, counted: int
) -> None:
    lock = RobustLock()
    writer = make(readers=2, lock=lock)
    writer.put("a", b"an object")
    killed_inside(writer, lock, "a", before_release=before_release)
    assert count(writer, "a") == counted
    other = make(writer)
    assert other.get(*handle_of(writer, "a")) == b"an object"
    assert count(writer, "a") == counted + 1
    writer.clear()


@pytest.mark.clause("OS-40")
def test_a_lock_that_the_system_does_not_take_back_fails_loudly(
    make: Callable[..., Store], killed_inside: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = CONTEXT.Lock()
    writer = make(readers=2)
    writer.put("a", b"an object")
    killed_inside(writer, lock, "a", before_release=False)
    monkeypatch.setattr(object_chunks, "LOCK_SECONDS", 0.05)
    handle = writer.handle()
    handle.reader_lock = lock
    blocked = Store.create_from_handle(handle)
    try:
        with pytest.raises(RuntimeError, match="a process may have died holding it"):
            blocked.get(*handle_of(writer, "a"))
    finally:
        blocked.close()
    assert count(writer, "a") == 0
    handle.reader_lock = RobustLock()
    recovered = Store.create_from_handle(handle)
    try:
        assert recovered.get(*handle_of(writer, "a")) == b"an object"
    finally:
        recovered.close()
