"""A process of a deployment: makes its part as it is told, and obeys until its socket is closed."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from . import wire
from .errors import cause_of

GRACE_SECONDS: Final = 10.0
"""How long a process may take to end by itself after its parent is gone."""
MAKE: Final = "make"
DROP: Final = "drop"
Call = tuple[str, tuple[Any, ...]]


def serve(pipe: socket.socket, lock: Any) -> None:
    """Obey calls over a socket until it ends, and give back what the part holds.

    `lock` is what the workers of a deployment share; makers get it as their first argument. Signals that a
    terminal sends to a whole group are the parent's to answer; it ends this process by closing the socket.
    """
    ignore_interrupt()
    logging.disable(logging.CRITICAL)
    threading.Thread(target=_end_without_parent, daemon=True).start()
    with pipe, contextlib.closing(_Obeying(lock)) as obeying:
        while True:
            try:
                notes, call = wire.receive(pipe)
            except (wire.Ended, wire.Rubbish):
                return
            answer = obeying.answer(notes, call)
            try:
                wire.send(pipe, answer)
            except wire.Ended:
                return


def ignore_interrupt() -> None:
    """Leave Ctrl-C to the parent, which has held it back until now (`host.no_interrupt`)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_without_parent() -> None:
    """A process that waits for a lock does not see its socket closed: it ends as its parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(GRACE_SECONDS)
        os._exit(1)


class _Obeying:
    """The part of this process, and what is done to it."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self._part: Any = None

    def answer(self, notes: list[Call], call: Call) -> bytes:
        """What came of a call: `done` with the result, or `raised` with its cause; and what the part tells
        besides. Notes are calls that nobody waits for, made before it."""
        method, arguments = call
        try:
            for noted, given in notes:
                self._do(noted, given)
            result = self._do(method, arguments)
            return wire.packed(("done", result, self._told()))
        except (Exception, SystemExit) as error:
            return wire.packed(("raised", cause_of(error), self._told()))

    def _do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        if method == MAKE:
            self.close()
            make: Callable[..., Any]
            make, *given = arguments
            self._part = make(self._lock, *given)
            return self._part.offered() if hasattr(self._part, "offered") else None
        if method == DROP:
            return self.close()
        perform = getattr(self._part, "perform", None)
        if perform is not None:
            return perform(method, arguments)
        return getattr(self._part, method)(*arguments)

    def _told(self) -> Any:
        return self._part.told() if hasattr(self._part, "told") else None

    def close(self) -> None:
        """Drop the part."""
        part, self._part = self._part, None
        if hasattr(part, "close"):
            with contextlib.suppress(Exception):
                part.close()
