"""Somebody else writes into the segment: random bytes into one part of one chunk, or into the secret."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import NotOffered

SECRET_BYTES: Final = 32
"""The segment begins with the secret, and the data area follows (spec, chapter 6)."""
HEAD: Final = struct.Struct("<ii")
"""A chunk begins with its id and its size; then comes the reader count (spec, chapter 7)."""
COUNT_BYTES: Final = 4
SEAL_BYTES: Final = 16
MOST_BYTES: Final = 16

Part = Callable[[int, int], tuple[int, int]]
"""From where a chunk begins and ends in the segment to where the part begins and ends."""

PARTS: Final[Mapping[str, Part]] = {
    "secret": lambda begin, end: (0, SECRET_BYTES),
    "header": lambda begin, end: (begin, begin + HEAD.size),
    "count": lambda begin, end: (begin + HEAD.size, begin + HEAD.size + COUNT_BYTES),
    "payload": lambda begin, end: (begin + HEAD.size + COUNT_BYTES, end),
}
"""The payload includes the seal, where there is one."""


def write_into(name: str, part: str, address: int, capacity: int, random: Random) -> bool:
    """Write over the part, of the chunk at this address; False where none is, or nothing changes.

    Raises `NotOffered` for a part that the segment does not have: until 0.31 there was no secret.
    """
    before = segments.content(name)
    secret = SECRET_BYTES if len(before) >= SECRET_BYTES + capacity else 0
    if part == "secret" and not secret:
        raise NotOffered("the segment has no secret")
    begin = secret + address % capacity
    _, size = HEAD.unpack_from(before, begin)
    end = begin + size
    if not HEAD.size + COUNT_BYTES < size <= secret + capacity - begin:
        return False
    first, last = PARTS[part](begin, end)
    length = min(random.randint(1, MOST_BYTES), last - first)
    place = random.randint(first, last - length)
    data = random.randbytes(length)
    segments.write(name, place, data)
    return data != before[place : place + length]
