"""A put is refused though every chunk is free.   [OS-05]

A put that finds no room frees from the oldest, but not more than twice the largest object's bytes, headers
counted. The bytes that it freed lie on both sides of the physical end, or the gap at the end counts for
nothing: no piece is large enough. A second pass would have freed the rest. A put is refused only if the
bytes it needs are held by chunks that are not free.
"""

from __future__ import annotations

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage

from .fault import Fault


def free_once(self: SingleWriterShmObjectStorage, size: int) -> tuple[int, int, int]:
    """One attempt to free twice the largest object has to do."""
    end_before = self.ring_buffer.data_buffer_end
    try:
        return *self.ring_buffer.allocate_buf(size), end_before
    except MemoryError:
        self._free(2 * self.max_object_size)
    end_before = self.ring_buffer.data_buffer_end
    return *self.ring_buffer.allocate_buf(size), end_before


FAULT = Fault(
    name="S18",
    title="a put is refused though every chunk is free, after one attempt to free",
    replaces="reference.object_store:SingleWriterShmObjectStorage._allocate",
    rule=free_once,
    component="object-store",
    clauses=("OS-05",),
)
