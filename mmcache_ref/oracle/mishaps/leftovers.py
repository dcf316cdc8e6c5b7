"""What processes leave behind: segments, processes, descriptors, memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mmcache_ref.oracle.segments import is_alive

PROCESSES: Final = Path("/proc")
"""Where Linux shows its processes; elsewhere nothing can be said of them."""


def is_running(process: int) -> bool:
    """Whether a process of this id runs, and is no zombie."""
    try:
        words = (PROCESSES / f"{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        if PROCESSES.joinpath("self").exists():
            return False
        return is_alive(process)
    return words[0] not in "ZX"


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
