"""`model/shm_caches.py` and `ShmCaches.tla`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref.model import shm_caches
from mmcache_ref.model.component import Content, Outcome
from mmcache_ref.model.shm_requests import Feature, Item
from mmcache_ref.tlc.bindings.base import Binding, described

DEAD: Final = ("dead",)
NO_HANDLE: Final = -2
GONE: Final = -1


def state(config: shm_caches.Config, state: shm_caches.State) -> Any:
    """`exactView`: messages in their order, workers under their numbers; chunks by their places."""
    if state.is_dead:
        return DEAD
    ring, entries, workers = state.store.ring, state.store.entries, state.store.workers
    places = {chunk.id: place for place, chunk in enumerate(ring.chunks, 1)}
    return (
        ring.begin,
        ring.end,
        tuple([chunk.begin - ring.chunks[0].begin for chunk in ring.chunks]),
        tuple(
            [
                (each.key, _plain(each.content), each.references * workers - each.acknowledged)
                for each in entries
            ]
        ),
        tuple([_seen(places, message) for message in state.channel]),
        tuple([_seen(places, running) for running in state.running]),
        tuple([_plain(retry) for retry in state.retries]),
        state.outdated,
    )


def told_apart(state: shm_caches.State) -> Any:
    """The same, as a value that is quickly made."""
    if state.is_dead:
        return DEAD
    ring, entries, workers = state.store.ring, state.store.entries, state.store.workers
    places = {chunk.id: place for place, chunk in enumerate(ring.chunks, 1)}
    return (
        ring.begin,
        ring.end,
        tuple([chunk.begin - ring.chunks[0].begin for chunk in ring.chunks]),
        tuple([(each.key, each.content, each.references * workers - each.acknowledged) for each in entries]),
        tuple([(_features(places, each.features), *each[1:]) for each in state.channel]),
        tuple([(_features(places, each.features), *each[1:]) for each in state.running]),
        state.retries,
        state.outdated,
    )


def call(operation: shm_caches.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    arguments = {name: _plain(getattr(operation, name)) for name in operation.__struct_fields__}
    return described(operation, outcome, **arguments)


def _seen(places: Mapping[int, int], holder: Any) -> Any:
    """A message or a running request, with the places of its chunks in place of handles."""
    return {
        **holder._asdict(),
        "features": tuple([(_plain(item), *rest) for item, *rest in _features(places, holder.features)]),
    }


def _features(
    places: Mapping[int, int], features: tuple[Feature, ...]
) -> tuple[tuple[Item, int, bool, bool], ...]:
    """Each item, the place of its chunk, whether it is stripped, and whether it is referenced."""
    return tuple(
        [
            (item, NO_HANDLE if handle is None else places.get(handle.id, GONE), is_stripped, is_referenced)
            for item, handle, is_stripped, is_referenced in features
        ]
    )


def _plain(value: Any) -> Any:
    """Records as mappings, contents too."""
    match value:
        case Content(nbytes, fill):
            return {"nbytes": nbytes, "fill": fill}
        case tuple() if hasattr(value, "_asdict"):
            return {name: _plain(each) for name, each in value._asdict().items()}
        case tuple():
            return tuple([_plain(each) for each in value])
    return value


SHM_CACHES: Final = Binding(shm_caches, state, call, told_apart=told_apart)
