"""What processes leave behind: segments, processes, descriptors, memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from mmcache_ref.oracle.segments import is_alive

PROCESSES: Final = Path("/proc")
"""Where Linux shows its processes; elsewhere nothing can be said of them."""


class Known(NamedTuple):
    """A process by its id and when it began: an id alone is given again, on some machines within minutes."""

    process: int
    began: int


def began(process: int) -> int | None:
    """When a process of this id began, in ticks since the machine did; 0 where nobody can tell, None where
    none runs, or a zombie."""
    try:
        words = (PROCESSES / f"{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        is_there = not PROCESSES.joinpath("self").exists() and is_alive(process)
        return 0 if is_there else None
    return None if words[0] in "ZX" else int(words[19])


def is_running(known: Known) -> bool:
    """Whether this very process runs, and is no zombie."""
    return began(known.process) == known.began


def descriptors(process: int | None = None) -> int:
    """How many descriptors a process has open, this one unless another is given; 0 where nobody can tell."""
    try:
        return len(os.listdir(PROCESSES / str(process or "self") / "fd"))
    except OSError:
        return 0


def resident_bytes(process: int) -> int:
    """The memory that a process has in use; 0 where nobody can tell."""
    try:
        pages = int((PROCESSES / str(process) / "statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
