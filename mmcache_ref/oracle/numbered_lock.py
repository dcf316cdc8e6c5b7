"""A lock whose holders are numbered: what tells who did something first, where no clock is shared."""

from __future__ import annotations

import ctypes
import multiprocessing
from typing import Any, Final, NamedTuple

from mmcache_ref.protocol import RobustLock

SECONDS: Final = 1.0
"""For how long to wait for the lock; it is held for two instructions, unless its holder is stopped there."""


class NumberedLock:
    """Counts how often any process has taken it.   [EV-07]

    It is not the one with which readers acknowledge: who writes a log must not change who waits for whom.
    Processes get it as they are spawned.
    """

    def __init__(self) -> None:
        self._lock = RobustLock()
        self._count: Any = multiprocessing.get_context("spawn").RawValue(ctypes.c_uint64, 0)

    def number(self) -> int | None:
        """Take the lock and give it back: which number that had; None where somebody is stopped with it."""
        if not self._lock.acquire(timeout=SECONDS):
            return None
        try:
            number = int(self._count.value)
            self._count.value = number + 1
            return number
        finally:
            self._lock.release()


class Locks(NamedTuple):
    """What processes that write a log are started with: the lock of the readers, and that of the log."""

    readers: RobustLock
    log: NumberedLock
