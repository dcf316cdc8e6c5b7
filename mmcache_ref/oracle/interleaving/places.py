"""Where a thread stands: the names of yield points."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

CALL = "call"
"""The file of the place before a call."""


class Place(NamedTuple):
    """What a thread does next: a line of a file; with `offset` an operation within that line.

    `path` is the whole path of the file, or `CALL` for the beginning of the call with the number `line`.
    `is_lock`: the line takes or releases the lock.
    """

    path: str
    line: int
    offset: int | None = None
    is_lock: bool = False

    def __str__(self) -> str:
        within = "" if self.offset is None else f"+{self.offset}"
        return f"{Path(self.path).name}:{self.line}{within}{' (lock)' if self.is_lock else ''}"
