"""Seals: how a reader knows that the bytes at an address are still the object of its handle.

An id alone does not say it: any bytes may come to lie at an old address, and a client chooses some of them.
A seal cannot be guessed, is never seen outside the segment, and is gone before its place is used again.
"""

from __future__ import annotations

import platform
import struct
import threading
from hashlib import sha256
from typing import Final

SEAL_BYTES: Final = 16
NO_SEAL: Final = bytes(SEAL_BYTES)
"""What stands in place of the seal before the object is complete and after it is gone."""

MARK_BYTES: Final = 8
_MARK_TEXT: Final = b"mmcache-ref sealing writer"

_SIZE: Final = struct.Struct("<I")
_BARRIER: Final = threading.Lock()

KEEPS_ORDER: Final = platform.machine().lower() in {"x86_64", "amd64", "i386", "i686"}
"""Whether other processors see the stores of this one in their order, and load in order themselves."""


def seal(secret: bytes, signature: bytes, chunk_size: int) -> bytes:
    """The seal of the chunk of `chunk_size` bytes that the handle with that signature names.   [OS-22]"""
    return sha256(secret + signature + _SIZE.pack(chunk_size)).digest()[:SEAL_BYTES]


def marked(secret: bytes) -> bytes:
    """The secret of a writer that seals: its last bytes follow from the others.   [OS-22]"""
    random = secret[:-MARK_BYTES]
    return random + sha256(_MARK_TEXT + random).digest()[:MARK_BYTES]


def is_marked(secret: bytes) -> bool:
    """Whether the writer with this secret seals: a secret that is all random is as good as never marked."""
    return secret == marked(secret)


def barrier() -> None:
    """Every load and store before is done before every load and store after.   [OS-08]

    A lock is the only such order that Python offers. What comes before it is done before it is released, and
    what comes after it after it is taken, so once is not enough: both could meet inside. Where the machine
    keeps the order of stores, and that of loads, none is needed.
    """
    if not KEEPS_ORDER:
        for _ in range(2):
            with _BARRIER:
                pass
