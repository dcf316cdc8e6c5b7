"""A put that fails half-way leaves its chunk behind.   [OS-07]

The place is allocated, and then the copy raises: an object that cannot be serialised, a buffer that is
gone. The chunk has no owner in any index. When it becomes the oldest, asking whether it is free fails with
a `KeyError`, at every put from then on. A failed put leaves no trace.
"""

from __future__ import annotations

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage

from .fault import Fault


def leave_it(self: SingleWriterShmObjectStorage, monotonic_id: int, end_before: int) -> None:
    """The chunk of a put that failed stays where it is."""


FAULT = Fault(
    name="S14",
    title="a put that fails half-way leaves a chunk without an owner, and no later one can free",
    replaces="reference.object_store:SingleWriterShmObjectStorage._take_back",
    rule=leave_it,
    component="object-store",
    clauses=("OS-07",),
)
