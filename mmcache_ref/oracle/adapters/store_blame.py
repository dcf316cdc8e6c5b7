"""Which clause of the object store a mismatch breaks, where more is known than which operation it was."""

from __future__ import annotations

from typing import Any

from mmcache_ref.model import object_store
from mmcache_ref.model.object_store import NO_ROOM, TOO_LARGE
from mmcache_ref.oracle.adapters.base import Unexpected


def may_be_blamed(operation: object_store.Operation) -> list[str]:
    """What `blamed` may name besides what decides the operation."""
    match operation:
        case object_store.Put(is_watched=True):
            return ["OS-03", "OS-08", "OS-25"]
        case object_store.Put() | object_store.PutFailing():
            return ["OS-03", "OS-25"]
        case object_store.FreeUnused():
            return ["OS-25", "OS-27"]
    return []


def must_be(
    ring: Any, config: object_store.Config, after: object_store.State, operation: object_store.Operation
) -> str | None:
    """OS-25, where chunks are freed in order, and the first one is gone that is not free."""
    is_freeing = isinstance(operation, object_store.Put | object_store.PutFailing | object_store.FreeUnused)
    if not is_freeing or not after.objects or object_store.is_free(config, after.objects[0]):
        return None
    is_new = isinstance(operation, object_store.Put) and after.objects[0].key == operation.key
    is_gone = after.ring.chunks[0].id not in ring.metadata
    return "OS-25" if is_gone and not is_new and are_the_youngest(ring, config.id_max) else None


def blamed(
    ring: Any, id_max: int, operation: object_store.Operation, aspect: str, expected: Any, actual: Any
) -> str | None:
    """A seal that comes too early; an object that is called too large; room where every chunk that could go
    is held; a chunk that is freed although an older one stays; what a reader that is overtaken gets or counts
    of another key, whatever the clear did. `ring` is None where what it shows is wrong from the start."""
    match operation:
        case object_store.Put(is_watched=True) if isinstance(actual, Unexpected):
            return "OS-08"
        case object_store.Put() | object_store.PutFailing() if TOO_LARGE.says in getattr(actual, "says", ""):
            return None if expected == TOO_LARGE else "OS-03"
        case object_store.Put() if aspect == "outcome" and expected == NO_ROOM:
            return "OS-25" if isinstance(actual, tuple) else None
        case object_store.PutFailing() if aspect == "outcome" and expected == NO_ROOM:
            return None if getattr(actual, "error", NO_ROOM.error) == NO_ROOM.error else "OS-25"
        case object_store.FreeUnused() if ring is not None:
            return None if are_the_youngest(ring, id_max) else "OS-27"
        case object_store.GetOvertaken(key, other) if key != other:
            if aspect == "outcome" and isinstance(actual, Unexpected):
                return "OS-41"
            return "OS-23" if aspect == "reads" and actual == ((other, 1),) else None
    return None


def are_the_youngest(ring: Any, id_max: int) -> bool:
    """Are the live chunks those that were allocated last, without an exception?"""
    live = set(ring.metadata)
    return live == {(ring.monotonic_id_end - each) % id_max for each in range(1, len(live) + 1)}
