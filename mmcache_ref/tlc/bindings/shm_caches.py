"""`model/shm_caches.py` and `ShmCaches.tla`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref.model import shm_caches
from mmcache_ref.model.component import Outcome
from mmcache_ref.model.shm_requests import Feature, Item, Message, Running
from mmcache_ref.tlc.bindings.base import Binding, described, tla_value

NO_HANDLE: Final = -2
GONE: Final = -1


def state(config: shm_caches.Config, state: shm_caches.State) -> Any:
    """`exactView`: messages in their order, workers under their numbers; chunks by their places.

    Also of a dead engine, which must do nothing with what it has under way.
    """
    return tla_value(told_apart(state))


def told_apart(state: shm_caches.State) -> Any:
    """The same, as a value that is quickly made: records and contents are as the model has them."""
    ring, entries, workers = state.store.ring, state.store.entries, state.store.workers
    places = {chunk.id: place for place, chunk in enumerate(ring.chunks, 1)}
    return (
        ring.begin,
        ring.end,
        tuple([chunk.begin - ring.chunks[0].begin for chunk in ring.chunks]),
        tuple([(each.key, each.content, each.references * workers - each.acknowledged) for each in entries]),
        tuple([Message._make((_seen(places, each.features), *each[1:])) for each in state.channel]),
        tuple([Running._make((_seen(places, each.features), *each[1:])) for each in state.running]),
        state.retries,
        state.outdated,
        state.is_dead,
    )


def call(operation: shm_caches.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    arguments = {name: tla_value(getattr(operation, name)) for name in operation.__struct_fields__}
    return described(operation, outcome, **arguments)


def _seen(
    places: Mapping[int, int], features: tuple[Feature, ...]
) -> tuple[tuple[Item, int, bool, bool], ...]:
    """Each item, the place of its chunk, whether it is stripped, and whether it is referenced."""
    return tuple(
        [
            (item, NO_HANDLE if handle is None else places.get(handle.id, GONE), is_stripped, is_referenced)
            for item, handle, is_stripped, is_referenced in features
        ]
    )


SHM_CACHES: Final = Binding(
    shm_caches,
    state,
    call,
    told_apart=told_apart,
    names=("begin", "end", "chunks", "entries", "channel", "running", "retries", "outdated", "is_dead"),
    members={
        "entries": ("key", "content", "owed"),
        "features": ("item", "place", "is_stripped", "is_referenced"),
    },
)
