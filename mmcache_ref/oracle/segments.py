"""Shared-memory segments of judged targets: each has a name of its own, and none stays behind.

A name begins with the id of the process that judges and the number of its process namespace, so that
whoever started it, or whoever judges next, can remove what a killed process left.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import weakref
from collections.abc import Callable, Collection
from multiprocessing import shared_memory, util
from pathlib import Path
from typing import Any, Final, NamedTuple

from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.known_process import is_alive, namespace

FOLDER: Final = Path("/dev/shm")
"""Where Linux shows the segments as files; elsewhere they cannot be listed."""
BLOCK: Final = 512
"""Bytes of what `stat` calls a block, whatever the file system's blocks are."""
_PREFIX: Final = "mmo"
_NAME: Final = re.compile(rf"{_PREFIX}(?P<process>\d+)\.(?P<namespace>[0-9a-f]+)-\d+")
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


def make(name: str, data: bytes) -> None:
    """A segment that begins with these bytes."""
    segment = shared_memory.SharedMemory(name, create=True, size=len(data))
    try:
        assert segment.buf is not None
        segment.buf[: len(data)] = data
    finally:
        segment.close()


def content(name: str) -> bytes:
    """All bytes of a segment, as they are now."""
    if FOLDER.is_dir():
        return (FOLDER / name).read_bytes()
    segment = shared_memory.SharedMemory(name)
    try:
        return bytes(segment.buf or b"")
    finally:
        segment.close()


def claimed(name: str) -> int:
    """Bytes of memory that a segment has by now; `NotOffered` where that cannot be seen."""
    if not FOLDER.is_dir():
        raise NotOffered("this system does not show what memory a segment has")
    return (FOLDER / name).stat().st_blocks * BLOCK


def write(name: str, place: int, data: bytes) -> None:
    """Write over bytes of a segment, as somebody would whom it does not belong to."""
    if FOLDER.is_dir():
        with (FOLDER / name).open("r+b") as file:
            file.seek(place)
            file.write(data)
        return
    segment = shared_memory.SharedMemory(name)
    try:
        assert segment.buf is not None
        segment.buf[place : place + len(data)] = data
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


class _Opened(NamedTuple):
    """The segments of one owner, and how they are closed."""

    names: list[str]
    closings: list[Callable[[], object]]


_opened: dict[int, _Opened] = {}
"""What this process has not closed yet."""


class OfTarget(NamedTuple):
    """A segment of a judged target, and the process that judges or judged it.

    `is_stale`: that process was killed, and is gone; one of another namespace cannot be seen.
    """

    name: str
    nbytes: int
    process: int
    is_stale: bool


def of_targets() -> list[OfTarget]:
    """All segments of judged targets, where they can be seen."""
    found = []
    for path in sorted(FOLDER.glob(f"{_PREFIX}*")):
        named = _NAME.fullmatch(path.name)
        with contextlib.suppress(OSError):
            if named:
                process = int(named["process"])
                is_stale = named["namespace"] == namespace() and not is_alive(process)
                found.append(OfTarget(path.name, path.stat().st_size, process, is_stale))
    return found


def sweep(names: Collection[str] | None = None) -> list[OfTarget]:
    """Remove what judging processes of this namespace left that were killed, and are gone, or of that the
    named ones; what it was."""
    removed = []
    for each in of_targets():
        if each.is_stale and (names is None or each.name in names):
            with contextlib.suppress(OSError):
                (FOLDER / each.name).unlink()
                removed.append(each)
    return removed


def close_with(owner: Any, names: list[str], closings: list[Callable[[], object]]) -> Callable[[], object]:
    """When `owner` is gone, or this process ends: call `closings`, whatever they raise, last one first, and
    remove the segments.

    Both lists may grow meanwhile, and must not refer to `owner`. Returns what does it at once.
    """
    number = next(_numbers)
    _opened[number] = _Opened(names, closings)
    return weakref.finalize(owner, _close, number)


def close_all() -> None:
    """Close what this process has open: for one that ends without saying so."""
    for number in tuple(_opened):
        _close(number)


def _close(number: int) -> None:
    names, closings = _opened.pop(number, _Opened([], []))
    while closings:
        with contextlib.suppress(Exception):
            closings.pop()()
    while names:
        remove(names.pop())


def _close_all_at_exit(_: object = None) -> None:
    # Processes of multiprocessing end without atexit.
    util.Finalize(None, close_all, exitpriority=0)


_close_all_at_exit()
util.register_after_fork(_close_all_at_exit, _close_all_at_exit)
if hasattr(os, "register_at_fork"):
    # What the parent has open is not the child's to close.
    os.register_at_fork(after_in_child=_opened.clear)


def _prefix(process: int) -> str:
    return f"{_PREFIX}{process}.{namespace()}-"
