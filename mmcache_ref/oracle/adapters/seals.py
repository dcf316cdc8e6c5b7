"""Signatures and seals by the formulas of the specification, and chunks as they are in the segment."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any, Final

from mmcache_ref.model.object_store import HEADER, READER_COUNT, SEAL
from mmcache_ref.oracle import segments

SECRET: Final = 32
"""Bytes of the secret with which a segment begins."""
MARKED: Final = 24
"""Bytes of the secret of a writer that seals from which the others follow."""
MARK: Final = b"mmcache-ref sealing writer"


class Snapshot:
    """All bytes of the segment of a ring, as they are now."""

    def __init__(self, ring: Any) -> None:
        self._capacity, name = ring.handle()
        whole = segments.content(name)
        # Releases before 0.32 have no secret, and the data area in its place.
        begin = getattr(ring, "DATA_OFFSET", 0)
        self.secret = whole[:SECRET] if begin else b""
        self._area = whole[begin : begin + self._capacity]

    def chunk_at(self, address: int) -> bytes:
        """The data area from the place of a virtual address on."""
        return self._area[address % self._capacity :]

    @property
    def is_sealing(self) -> bool:
        """Has the writer left the mark of those that seal?"""
        mark = sha256(MARK + self.secret[:MARKED]).digest()[: SECRET - MARKED]
        return self.secret[MARKED:] == mark

    def signature(self, key: str, address: int, identifier: int) -> bytes:
        """The signature of a handle."""
        place = address.to_bytes(8, "little") + identifier.to_bytes(4, "little")
        return hmac.digest(self.secret, sha256(key.encode()).digest() + place, "sha256")

    def is_sealed(self, key: str, address: int, identifier: int) -> bool:
        """Is there the seal of this handle in the chunk at its place?"""
        chunk = self.chunk_at(address)
        size = chunk[HEADER // 2 : HEADER]
        seal = sha256(self.secret + self.signature(key, address, identifier) + size).digest()[:SEAL]
        return chunk[HEADER + READER_COUNT :][:SEAL] == seal
