"""Shared-memory segments of judged targets: each has a name of its own, and none stays behind.

A name begins with the id of the process that judges, so that whoever started it can remove what a killed
process left.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Callable
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path("/dev/shm")
"""Where Linux shows the segments as files; elsewhere they cannot be listed."""
_PREFIX: Final = "mmo"
_numbers = itertools.count()


def fresh_name() -> str:
    """A name that no segment has: short enough for macOS (30 characters)."""
    return f"{_prefix(os.getpid())}{next(_numbers)}"


def exists(name: str) -> bool:
    """Is there a segment of this name?"""
    if FOLDER.is_dir():
        return (FOLDER / name).exists()
    try:
        shared_memory.SharedMemory(name).close()
    except FileNotFoundError:
        return False
    return True


def content(name: str) -> bytes:
    """All bytes of a segment, as they are now."""
    if FOLDER.is_dir():
        return (FOLDER / name).read_bytes()
    segment = shared_memory.SharedMemory(name)
    try:
        return bytes(segment.buf or b"")
    finally:
        segment.close()


def remove(name: str) -> None:
    """Remove a segment, if it is still there; whoever has it mapped keeps what it maps."""
    if exists(name):
        with contextlib.suppress(OSError, ValueError):
            segment = shared_memory.SharedMemory(name)
            segment.close()
            segment.unlink()


def remove_all_of(process: int) -> None:
    """Remove what a process that has ended left behind, where that can be seen."""
    if FOLDER.is_dir():
        for path in FOLDER.glob(f"{_prefix(process)}*"):
            with contextlib.suppress(OSError):
                path.unlink()


def close_with(owner: Any, names: list[str], closings: list[Callable[[], object]]) -> Callable[[], object]:
    """When `owner` is gone: call `closings`, whatever they raise, last one first, and remove the segments.

    Both lists may grow meanwhile, and must not refer to `owner`. Returns what does it at once.
    """
    return weakref.finalize(owner, _close, names, closings)


def _close(names: list[str], closings: list[Callable[[], object]]) -> None:
    while closings:
        with contextlib.suppress(Exception):
            closings.pop()()
    while names:
        remove(names.pop())


def _prefix(process: int) -> str:
    return f"{_PREFIX}{process}-"
