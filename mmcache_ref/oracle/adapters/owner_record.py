"""The record behind the data area of a segment, by which one can tell whose it is."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, Final

from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.errors import NotOffered

MAGIC: Final = b"mmcache-ref ring"
RECORD: Final = struct.Struct("<16s4Q16s")
PROCESS: Final = Path("/proc/self")


def names_this_process(content: bytes, begin: int, capacity: int) -> Any:
    """True, if the record behind the data area, which has a beginning and a capacity, says this process.

    Raises `NotOffered` for a segment without a record.
    """
    record = content[begin + capacity :][: RECORD.size]
    if not record.startswith(MAGIC) or len(record) < RECORD.size:
        raise NotOffered("the target's segments do not say who owns them")
    found = RECORD.unpack(record)
    expected = (MAGIC, capacity, os.getpid(), _began(), _namespace(), bytes(16))
    names = ("text", "capacity", "process id", "beginning of the process", "namespace", "end")
    wrong = [name for name, mine, its in zip(names, expected, found, strict=True) if mine != its]
    return Unexpected(f"a record with another {wrong[0]}") if wrong else True


def _began() -> int:
    """When this process began, in ticks since the machine started; 0 where that cannot be known."""
    try:
        return int((PROCESS / "stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    except OSError:
        return 0


def _namespace() -> int:
    """The number of this process's namespace of process ids; 0 where there is none."""
    try:
        return (PROCESS / "ns/pid").stat().st_ino
    except OSError:
        return 0
