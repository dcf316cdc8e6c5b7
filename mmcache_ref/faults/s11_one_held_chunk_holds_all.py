"""One object in use keeps all others from being reclaimed, also older ones.   [RB-16, RB-24]

That objects are reclaimed in order of their age is by design: a hot object that has become the oldest keeps
all that came after it, and the specification says what this costs. What is seeded here costs more: the
freeing pass first asks whether everything may go, and gives up if anything may not. The objects older than
the one in use are free, and nothing is in their way.
"""

from __future__ import annotations

from collections.abc import Callable

from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer
from mmcache_ref.reference.ring_placement import HEADER_BYTES

from .fault import Fault


def all_or_none(
    self: SingleWriterShmRingBuffer,
    buf: memoryview,
    is_free: Callable[[int, memoryview], bool],
    nbytes: int,
) -> list[int]:
    """Chunks go only if none of those asked for is held."""
    free: list[int] = []
    free_bytes = 0
    for identifier, address in self.metadata.items():
        if free_bytes >= nbytes:
            break
        size = self._sizes[identifier]
        begin = self.DATA_OFFSET + address % self.data_buffer_size
        with buf[begin + HEADER_BYTES : begin + size] as payload:
            if not is_free(identifier, payload):
                return []
        free.append(identifier)
        free_bytes += size
    return free


FAULT = Fault(
    name="S11",
    title="one chunk in use keeps all from being freed, also the older ones",
    replaces="reference.ring_buffer:SingleWriterShmRingBuffer._free_prefix",
    rule=all_or_none,
    component="ring-buffer",
    clauses=("RB-16", "RB-24"),
    upstream=("#20452",),
)
