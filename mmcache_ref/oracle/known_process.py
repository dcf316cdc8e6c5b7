"""Whether a process still is the one that it was, known by its id and when it began.

An id alone is given again, on some machines within minutes. Who cannot be seen from here counts as running.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

PROCESSES: Final = Path("/proc")
"""Where Linux shows its processes; elsewhere only their ids say anything."""


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


def namespace() -> str:
    """What tells processes of one id apart: the number of the process namespace, or 0."""
    try:
        return f"{(PROCESSES / 'self/ns/pid').stat().st_ino:x}"
    except OSError:
        return "0"
