"""A touch waits for a lock that is never released."""

from __future__ import annotations

import threading

from rogue import names

LOCK = threading.Lock()
LOCK.acquire()


def misbehave() -> None:
    with LOCK:
        pass


globals().update(names(misbehave))
