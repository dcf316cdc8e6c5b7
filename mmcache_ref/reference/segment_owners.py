"""Who owns a segment, and whether that process lives: the record behind the data area.

An id of a process alone does not say it: it is given again, and in another namespace it means another
process. The record therefore also has the time at which the process began and the number of its
namespace.
"""

from __future__ import annotations

import os
import re
import struct
import time
from pathlib import Path
from typing import NamedTuple

NAME_PREFIX = "mmcache-"
"""How the names begin that this library makes up: 16 characters follow, which makes 24; macOS allows 30."""
MADE_UP_NAME = re.compile(NAME_PREFIX + "[0-9a-f]{16}")
MAKING_SECONDS = 10
"""A segment gets its length and its record within microseconds; without them for so long it is left over."""

MAGIC = b"mmcache-ref ring"
RECORD = struct.Struct("<16s4Q16x")
RECORD_BYTES = RECORD.size
SECRET_BYTES = 32
"""What stands before the data area."""
PROCESSES = Path("/proc")
"""Where Linux shows its processes."""


class Owner(NamedTuple):
    """The process that created a segment, and the capacity it made it for.   [RB-34]"""

    capacity: int
    pid: int
    began: int
    namespace: int


def own_record(size: int) -> bytes:
    """The record of this process for a segment of `size` bytes before the record.   [RB-34]"""
    pid = os.getpid()
    return RECORD.pack(MAGIC, size - SECRET_BYTES, pid, _began(pid) or 0, _namespace())


def read_owner(descriptor: int) -> Owner | None:
    """The owner of an open segment, or None where it has no such record.   [RB-34]"""
    length = os.fstat(descriptor).st_size
    if length < SECRET_BYTES + RECORD_BYTES:
        return None
    record = os.pread(descriptor, RECORD_BYTES, length - RECORD_BYTES)
    if len(record) < RECORD_BYTES:  # somebody has cut it meanwhile
        return None
    magic, *fields = RECORD.unpack(record)
    owner = Owner(*fields)
    is_ours = magic == MAGIC and length == SECRET_BYTES + owner.capacity + RECORD_BYTES
    return owner if is_ours else None


def is_owner_dead(owner: Owner) -> bool:
    """Whether the owner is known to be gone; who cannot be seen from here counts as alive.   [RB-34]"""
    if owner.namespace != _namespace():
        return False
    began = _began(owner.pid)
    if began is None:
        return True
    return 0 not in (began, owner.began) and began != owner.began


def is_left_unfinished(name: str, descriptor: int) -> bool:
    """Whether this segment without a record is one whose writer died while it made it.   [RB-34]

    Only a name of ours says so, and time. A name that somebody chose may be that of another program's
    segment, which has no record but has memory.
    """
    found = os.fstat(descriptor)
    is_ours = name.startswith(NAME_PREFIX) if found.st_size == 0 else MADE_UP_NAME.fullmatch(name)
    return bool(is_ours) and time.time() - found.st_mtime > MAKING_SECONDS


def _namespace() -> int:
    """The number of this process's namespace of process ids, 0 where there is none."""
    try:
        return (PROCESSES / "self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _began(pid: int) -> int | None:
    """When a process began, 0 where that cannot be known, None when it does not run any more.

    In `/proc/PID/stat` the name of the program, in parentheses, can hold anything; what follows are the
    state and, as the 20th word, the ticks. A zombie (Z, X) holds no memory any more.
    """
    try:
        words = (PROCESSES / f"{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0 if _answers(pid) else None
    return None if words[0] in "ZX" else int(words[19])


def _answers(pid: int) -> bool:
    """Whether a process of this id runs, asked without `/proc`."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
