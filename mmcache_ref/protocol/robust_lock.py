"""A lock that several processes share, and that the system takes back when its holder ends.

A lock of `multiprocessing` is a semaphore: who is killed with it leaves it taken for ever. A record lock on
a file belongs to a process, and goes with it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
import threading
import time
from multiprocessing.context import assert_spawning
from multiprocessing.reduction import DupFd
from typing import Any, Final
from weakref import WeakSet, finalize

SHORTEST_PAUSE: Final = 20e-6
LONGEST_PAUSE: Final = 2e-3
"""Seconds between two tries of who may not wait for ever: the system has no timeout for record locks."""

_BUSY: Final = (errno.EACCES, errno.EAGAIN)
_living: WeakSet[RobustLock] = WeakSet()


class RobustLock:
    """As a lock of `multiprocessing`, but free again once the process that holds it has ended.   [SC-46]

    Processes get it as an argument when they are spawned, or by fork. One thread holds it, and that one
    releases it. No file system shows it, and nothing is left when the last of its processes has ended.

    A process that is stopped (SIGSTOP) or hangs still holds it: give a timeout.
    """

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self._begin(os.dup(file.fileno()))

    def _begin(self, descriptor: int) -> None:
        """Lock by this descriptor.

        It stays open as long as the lock lives here: a process that closes any descriptor of a file loses the
        record locks that it has on it.
        """
        self._descriptor = descriptor
        self._threads = threading.Lock()
        self._holder: int | None = None
        finalize(self, os.close, descriptor)
        _living.add(self)

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take the lock; False if it is not free, or not in time.   [SC-46]

        A timeout is in seconds, and one below 0 is one of 0, as in `multiprocessing`.
        """
        seconds = 0.0 if not block else timeout if timeout is None else max(timeout, 0.0)
        end = None if seconds is None else time.monotonic() + seconds
        if not self._threads.acquire(timeout=-1 if seconds is None else min(seconds, threading.TIMEOUT_MAX)):
            return False
        try:
            is_mine = self._take_from_processes(end)
        except BaseException:
            self._give_back()
            raise
        if is_mine:
            self._holder = threading.get_ident()
        else:
            self._threads.release()
        return is_mine

    def _take_from_processes(self, end: float | None) -> bool:
        """Take the record lock, by this time of the monotonic clock at the latest."""
        pause = SHORTEST_PAUSE
        while not self._try_once(waits=end is None):
            if end is not None and time.monotonic() >= end:
                return False
            time.sleep(pause if end is None else max(min(pause, end - time.monotonic()), 0.0))
            pause = min(2 * pause, LONGEST_PAUSE)
        return True

    def _try_once(self, *, waits: bool) -> bool:
        """Ask the system for the record lock.

        It refuses to wait where it sees a circle of processes, which need not be one of threads: then it is
        asked again.
        """
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (*_BUSY, errno.EDEADLK):
                return False
            raise
        return True

    def release(self) -> None:
        """Give the lock back.   [SC-46]

        Raises `ValueError` when this thread does not hold it.
        """
        if self._holder != threading.get_ident():
            raise ValueError("this thread does not hold the lock that it releases")
        self._holder = None
        self._give_back()

    def _give_back(self) -> None:
        """To the processes first: who of this one comes next has to ask for it again."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __getstate__(self) -> Any:
        """What a process that is being spawned gets; `RuntimeError` for any other way to pickle it."""
        assert_spawning(self)
        return DupFd(self._descriptor)

    def __setstate__(self, state: Any) -> None:
        self._begin(state.detach())

    def _begin_in_child(self) -> None:
        """After a fork: a thread of the parent may hold the lock, none of this process does."""
        self._threads = threading.Lock()
        self._holder = None


def _begin_all_in_child() -> None:
    for lock in tuple(_living):
        lock._begin_in_child()


os.register_at_fork(after_in_child=_begin_all_in_child)
