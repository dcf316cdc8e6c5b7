"""A bound on what one operation may cost, so that a target that spins is stopped and named.

What a target forks has no part in its judgement: a copy of this process would go on judging, and fork again.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

OPERATION_CPU_SECONDS: Final = 2.0
"""CPU time, not wall-clock: a busy machine does not make a target look hung. A cache operation on a few
bytes takes microseconds, and what it imports when first called takes less than this."""


REPEAT_CPU_SECONDS: Final = 0.1
"""Python drops an exception that is raised inside a callback of the garbage collector: try again."""


AFTER_A_HANG_CPU_SECONDS: Final = 0.3
"""The bound of a target that once used up its whole bound. A full garbage collection beside a large graph has
to fit: less than a quarter of a second finds hangs where there are none."""


class TargetHung(BaseException):
    """The target spent its bound inside one operation. Not an `Exception`: targets must not swallow it."""


@contextmanager
def hang_guard(seconds: float | None = None) -> Iterator[Guard]:
    """Install the guard, with a bound of `seconds` of CPU time (`OPERATION_CPU_SECONDS` unless given).

    Outside the main thread, and where there are no timers, it does nothing.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield Guard(enabled=False)
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TargetHung

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield Guard(enabled=True, seconds=seconds)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def end_unless(process: int) -> None:
    """End this process here and now, if it is a forked copy of that one."""
    if os.getpid() != process:
        os._exit(0)


class Guard:
    """`with guard:` bounds the CPU time of its body, and ends what comes out of it in a forked copy of this
    process; cheap enough for every operation."""

    __slots__ = ("enabled", "process", "seconds")

    def __init__(self, *, enabled: bool, seconds: float | None = None) -> None:
        self.enabled = enabled
        self.process = os.getpid()
        self.seconds = OPERATION_CPU_SECONDS if seconds is None else seconds

    def shorten(self) -> None:
        """The target hung: it is not given as long again."""
        self.seconds = min(self.seconds, AFTER_A_HANG_CPU_SECONDS)

    def __enter__(self) -> None:
        if self.enabled:
            signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds, REPEAT_CPU_SECONDS)

    def __exit__(self, *details: object) -> None:
        if self.enabled:
            end_unless(self.process)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
