"""A lock in which a process can be made to die or to stop, at an exact place."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Mapping
from multiprocessing.context import SpawnContext
from typing import Any, Final

PLACES: Final[Mapping[str, int]] = {
    "before it asks for the lock": 1,
    "as it has got the lock": 2,
    "as it gives the lock back": 3,
    "after it gave the lock back": 4,
}
"""Where: the acknowledgement of a reader lies between the second and the third."""
MESSAGE_PLACES: Final[Mapping[str, int]] = {
    "before a message": 5,
    "inside a message": 6,
    "after a message": 7,
}
"""Where else, in P0 or P1 of a pair: around a message, and before each item of it."""


class TrappedLock:
    """Another lock, with one trap for the process that it is set for; who is not meant notices nothing.

    A process that runs into the trap sends the signal to itself: it dies or stops there and nowhere else.
    """

    def __init__(self, lock: Any, context: SpawnContext) -> None:
        self._lock = lock
        self._trap: Any = context.RawArray(ctypes.c_long, 4)

    def set_trap(self, process: int, place: str, times: int, signum: int = signal.SIGKILL) -> None:
        """The process gets this signal as it comes to this place for that many times from now on."""
        self.take_away()
        self._trap[1:] = [{**PLACES, **MESSAGE_PLACES}[place], times, signum]
        self._trap[0] = process

    def take_away(self) -> None:
        """No trap any more."""
        self._trap[0] = 0

    @property
    def is_set(self) -> bool:
        """Whether nobody has run into it yet."""
        return bool(self._trap[0])

    def reach(self, place: str) -> None:
        """Come to one of the places that are not of the lock."""
        self._pass(MESSAGE_PLACES[place])

    def _pass(self, place: int) -> None:
        trap = self._trap
        if trap[0] != os.getpid() or trap[1] != place:
            return
        trap[2] -= 1
        if trap[2] <= 0:
            trap[0] = 0
            os.kill(os.getpid(), trap[3])

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """As of the lock itself."""
        self._pass(1)
        is_mine = bool(self._lock.acquire(block, timeout))
        if is_mine:
            self._pass(2)
        return is_mine

    def release(self) -> None:
        """As of the lock itself."""
        self._pass(3)
        self._lock.release()
        self._pass(4)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
