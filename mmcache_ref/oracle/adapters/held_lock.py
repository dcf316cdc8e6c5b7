"""A lock whose holder is dead: nobody gets it, and whoever waits for it sees the time pass at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mmcache_ref.oracle.adapters import store_calls as calls
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.errors import NotOffered

PATIENCE: Final = 60.0
"""Seconds after which somebody who waits in vain says so.   [OS-40]"""
LONGEST_SECONDS: Final = 3600.0
"""Who has waited for so long, in how many parts ever, does not give up."""


class HeldForEver(Exception):  # noqa: N818 - reads as what the lock is
    """What ends a wait without a limit."""


class HeldLock:
    """As a lock of `multiprocessing` or `threading`; `waited` are the seconds that its user has waited."""

    def __init__(self) -> None:
        self.waited = 0.0

    def acquire(self, blocking: bool = True, timeout: float | None = None, *, block: bool = True) -> bool:
        """Not taken after `timeout` seconds, which pass at once."""
        if not (blocking and block):
            raise NotOffered("the target asks for the lock again and again, which takes as long as it takes")
        if timeout is None or timeout < 0:
            raise HeldForEver
        self.waited += timeout
        if self.waited > LONGEST_SECONDS:
            raise HeldForEver
        return False

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        """Never reached: nobody has entered."""

    def release(self) -> None:
        """Somebody gives back what he does not have."""
        raise ValueError("a lock was released that was not taken")


def in_vain(attach: Callable[[Any], Any], read: Callable[[Any], Any]) -> Any:
    """What a reader reads that waits for its lock in vain."""
    lock = HeldLock()
    reader = attach(lock)
    try:
        return read(reader)
    except HeldForEver:
        return Unexpected("it waits for the lock without end")
    except RuntimeError:
        if lock.waited != PATIENCE:
            return Unexpected(f"it gives up after {lock.waited:.0f} s")
        raise
    finally:
        calls.close(reader)
