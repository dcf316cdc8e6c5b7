"""The record behind the data area of a segment, by which one can tell whose it is."""

from __future__ import annotations

import os
import struct
from typing import Any, Final

from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.known_process import began, namespace

MAGIC: Final = b"mmcache-ref ring"
RECORD: Final = struct.Struct("<16s4Q16s")


def names_this_process(content: bytes, begin: int, capacity: int) -> Any:
    """True, if the record behind the data area, which has a beginning and a capacity, says this process.

    Raises `NotOffered` for a segment without a record.
    """
    record = content[begin + capacity :][: RECORD.size]
    if not record.startswith(MAGIC) or len(record) < RECORD.size:
        raise NotOffered("the target's segments do not say who owns them")
    found = RECORD.unpack(record)
    process = os.getpid()
    expected = (MAGIC, capacity, process, began(process) or 0, int(namespace(), 16), bytes(16))
    names = ("text", "capacity", "process id", "beginning of the process", "namespace", "end")
    wrong = [name for name, mine, its in zip(names, expected, found, strict=True) if mine != its]
    return Unexpected(f"a record with another {wrong[0]}") if wrong else True
