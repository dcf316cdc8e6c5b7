"""An object that the ring can never hold evicts what it can, and is refused then.   [OS-06]

The object is within the limit of one object and larger than the whole ring. The put finds no room and frees
from the oldest, as always; then it finds no room again and gives up, and the object travels inline. Each
time such an object comes, everything that could be reclaimed is gone. What can never fit is refused before
anything is freed.
"""

from __future__ import annotations

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage

from .fault import Fault


def try_it_first(self: SingleWriterShmObjectStorage, size: int) -> None:
    """Whether an object can ever fit is found out by freeing for it."""


FAULT = Fault(
    name="S06",
    title="an object larger than the ring evicts what it can before it is refused",
    replaces="reference.object_store:SingleWriterShmObjectStorage._refuse_what_never_fits",
    rule=try_it_first,
    component="object-store",
    clauses=("OS-06",),
)
