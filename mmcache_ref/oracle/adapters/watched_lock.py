"""A lock that counts how often it was taken."""

from __future__ import annotations

import threading
from typing import Any


class WatchedLock:
    """What the receivers of one segment share; `taken` counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.taken = 0

    def acquire(self, *args: Any, **more: Any) -> bool:
        """As of any lock."""
        is_mine = self._lock.acquire(*args, **more)
        self.taken += is_mine
        return is_mine

    def release(self) -> None:
        """As of any lock."""
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
