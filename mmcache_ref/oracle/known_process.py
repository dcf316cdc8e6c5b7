"""Whether a process still is the one that it was, known by its id and when it began.

An id alone is given again, on some machines within minutes. Who cannot be seen from here counts as running.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path
from typing import Final, NamedTuple

PROCESSES: Final = Path("/proc")
"""Where Linux shows its processes; elsewhere only their ids say anything."""

PARENT_SECONDS: Final = 1.0
"""Time between two looks at whether the parent is still there."""


class Known(NamedTuple):
    """A process by its id and when it began."""

    process: int
    began: int


def began(process: int) -> int | None:
    """When a process of this id began, in ticks since the machine did; 0 where nobody can tell, None where
    none runs, or a zombie."""
    try:
        words = (PROCESSES / f"{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0 if is_alive(process) else None
    return None if words[0] in "ZX" else int(words[19])


def is_running(known: Known) -> bool:
    """Whether this very process runs, and is no zombie; also where nobody can tell when it began."""
    now = began(known.process)
    return now is not None and (now == known.began or 0 in (now, known.began))


def is_alive(process: int) -> bool:
    """Whether there is a process of this id, be it a zombie."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def end_with_parent() -> None:
    """From now on this process ends soon after its parent, however that ends and whatever is going on.

    Whoever started this process by multiprocessing may have ended already.
    """
    parent = multiprocessing.parent_process()
    number = os.getppid() if parent is None or parent.pid is None else parent.pid
    threading.Thread(target=_end_after, args=(number,), daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def namespace() -> str:
    """What tells processes of one id apart: the number of the process namespace, or 0."""
    try:
        return f"{(PROCESSES / 'self/ns/pid').stat().st_ino:x}"
    except OSError:
        return "0"
