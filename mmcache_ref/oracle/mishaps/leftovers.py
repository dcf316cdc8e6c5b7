"""What processes have in use, and may leave behind: descriptors, memory."""

from __future__ import annotations

import os

from mmcache_ref.oracle.known_process import PROCESSES


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
