"""A chunk is announced before its bytes are there.   [OS-08]

The writer first stores what tells a reader that the chunk is complete, and then the payload. A processor
with weakly ordered memory has the same effect though the program is right. A reader that comes in between
finds a valid chunk and copies what was there before, or half of each. This fault is the program's: it
stores in the wrong order. What a processor may reorder no test on one machine shows: the model of single
accesses tries it, and says which barriers are needed.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.reference.object_chunks import COUNT, HEAD, ObjectChunks
from mmcache_ref.reference.seals import SEAL_BYTES, barrier, seal

from .fault import Fault


def seal_first(
    self: ObjectChunks,
    address: int,
    signature: bytes,
    data: Any,
    data_bytes: int,
    metadata: bytes,
    md_bytes: int,
) -> None:
    """The seal is there before the bytes that it vouches for."""
    memory, begin = self._memory, self._place(address)
    position = begin + HEAD.size
    size = HEAD.size + md_bytes + data_bytes
    COUNT.pack_into(memory, position - COUNT.size, 0)
    if self._has_seals:
        metadata = seal(self._secret, signature, size) + metadata[SEAL_BYTES:]
    memory[position : position + md_bytes] = metadata
    barrier()
    position += md_bytes
    for part in data if isinstance(data, list) else [data]:
        memory[position : position + len(part)] = part
        position += len(part)


FAULT = Fault(
    name="S12",
    title="the seal is written before the payload, so a reader can copy what is not there yet",
    replaces="reference.object_chunks:ObjectChunks._publish",
    rule=seal_first,
    component="object-store",
    clauses=("OS-08",),
    upstream=("#27858", "#29389"),
    accidents=("early-handle",),
    without=("seal-last",),
)
