"""Time as a process has it: on a loaded machine a second is not a second for everybody.

Processor time alone would not tell a process that waits for ever: it uses none. Wall-clock time alone would
end one that only waits for its turn. What a process neither computes nor sleeps is what it waits for a
processor, and Linux counts that; elsewhere own time is wall-clock time.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

PROCESSES: Final = Path("/proc")
"""Where Linux shows its processes."""
_NANOSECOND: Final = 1e-9


class OwnTime:
    """Seconds since the start in which a process computed, slept, or was stopped: not what it queued."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._queued = queued(pid)

    def seconds(self) -> float:
        """Own time since the start."""
        elapsed = time.monotonic() - self._began
        return elapsed - max(0.0, queued(self._pid) - self._queued)


def queued(pid: int) -> float:
    """Seconds that the main thread of a process was ready to run and had no processor; 0 if none can tell."""
    try:
        return int((PROCESSES / f"{pid}/schedstat").read_text().split()[1]) * _NANOSECOND
    except (OSError, LookupError, ValueError):
        return 0.0
