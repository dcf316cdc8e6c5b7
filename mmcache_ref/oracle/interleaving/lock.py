"""The lock that a target is handed: it has the interface of multiprocessing's, and obeys the scheduler."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any, Final

from mmcache_ref.oracle.interleaving.places import Place
from mmcache_ref.oracle.interleaving.scheduler import Execution

MOST_TRIES: Final = 5
"""Times that a thread finds the lock taken while nobody takes it or gives it back."""


class CooperativeLock:
    """A lock whose waiting is a decision of the scheduler.

    Outside an execution (`execution` is None), where there is one thread, it is a plain lock.
    """

    def __init__(self) -> None:
        self.execution: Execution | None = None
        self._is_held = False
        self._tries: Counter[int] = Counter()

    def acquire(self, block: bool = True, timeout: float | None = None, **more: Any) -> bool:
        """Take the lock. A `timeout` never runs out: nothing that waits under the scheduler takes time.

        Who tries again and again without waiting is let through when it is free.
        """
        execution = self.execution
        block = more.get("blocking", block)
        if execution is None:
            if self._is_held and block:
                raise RuntimeError("the one thread there is waits for a lock that it holds")
        else:
            self._arrive(execution)
            if block or self._tries[execution.running] >= MOST_TRIES:
                execution.wait_for_lock(lambda: not self._is_held)
        if self._is_held:
            if execution is not None:
                self._tries[execution.running] += 1
            return False
        self._is_held = True
        self._changed()
        return True

    def release(self) -> None:
        """Give the lock back; `ValueError` if nobody holds it."""
        if self.execution is not None:
            self._arrive(self.execution)
        if not self._is_held:
            raise ValueError("semaphore or lock released too many times")
        self._is_held = False
        self._changed()

    def locked(self) -> bool:
        """Does somebody hold it?"""
        return self._is_held

    def _arrive(self, execution: Execution) -> None:
        """A yield point, in the line that asks."""
        frame = sys._getframe(2)
        if frame.f_code in (CooperativeLock.__enter__.__code__, CooperativeLock.__exit__.__code__):
            frame = sys._getframe(3)
        execution.arrive(Place(frame.f_code.co_filename, frame.f_lineno, is_lock=True))

    def _changed(self) -> None:
        self._tries.clear()
        if self.execution is not None:
            self.execution.use_lock()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
