"""The state of the shared-memory caches, and what becomes of the handles that were issued.

The ring is counted in units. A handle that was issued is kept, so that it can be shown again when its chunk
is long gone.   [spec/08-shm-caches.md]
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from . import shm_store as moves
from .component import Content
from .ring_moves import Chunk, place_in
from .shm_pair_alphabet import Feature
from .shm_store import Store

KEPT = 2
"""Handles of each key that are remembered."""


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`capacity` of the ring and `limit` of an item in units; how many `workers` read; the `first_id`.

    For a search: the `contents` that a key may have, the `requests` that a worker gets, how many `puts`
    there may be in a run, and how many `references` a chunk may have.
    """

    capacity: Annotated[int, msgspec.Meta(ge=1, le=64)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=64)]
    workers: Annotated[int, msgspec.Meta(ge=1, le=4)] = 1
    contents: tuple[tuple[str, Content], ...] = ()
    requests: tuple[tuple[Feature, ...], ...] = ()
    puts: int = 0
    references: int = 2
    first_id: Annotated[int, msgspec.Meta(ge=0, lt=moves.ID_MAX)] = 0

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct keys, in order."""
        return tuple(dict.fromkeys(key for key, _ in self.contents))


class Issued(NamedTuple):
    """A handle that was issued; `is_overwritten`: another chunk was laid over its place since."""

    key: str
    chunk: Chunk
    content: Content
    is_overwritten: bool = False


class State(NamedTuple):
    """The store with the counters; the keys that are touched; whose prompt updates are on record, and which;
    the handles issued, newest first; the counters last reported."""

    store: Store
    touched: tuple[str, ...] = ()
    records: tuple[tuple[str, Content], ...] = ()
    issued: tuple[Issued, ...] = ()
    reported_hits: int = 0
    reported_total: int = 0


def handle_of(state: State, key: str, back: int = 0) -> Issued | None:
    """The handle that was issued for a key, so many before its newest."""
    mine = [each for each in state.issued if each.key == key]
    return mine[back] if back < len(mine) else None


def live_place(state: State, handle: Issued) -> int | None:
    """The place of a handle's chunk among those in the ring; None when it is gone."""
    return moves.holder(state.store, moves.Handle(handle.key, handle.chunk.id, handle.chunk.begin))


def with_issued(capacity: int, state: State, key: str, content: Content) -> State:
    """The state with a handle of the chunk that was put last, which may lie where others lay."""
    new = state.store.ring.chunks[-1]
    old = tuple([_beside(capacity, each, new) for each in state.issued])
    kept: list[Issued] = []
    for each in (Issued(key, new, content), *old):
        if sum(other.key == each.key for other in kept) < KEPT:
            kept.append(each)
    return state._replace(issued=tuple(kept))


def _beside(capacity: int, handle: Issued, new: Chunk) -> Issued:
    """A handle after a new chunk was laid."""
    mine, theirs = place_in(capacity, handle.chunk.begin), place_in(capacity, new.begin)
    overlaps = mine < theirs + new.size and theirs < mine + handle.chunk.size
    return handle._replace(is_overwritten=handle.is_overwritten or overlaps)


def with_record(state: State, key: str, content: Content) -> State:
    """The state with the prompt updates of an item that was just stored.   [SC-10, SC-11]

    If there are at least twice as many records as stored keys, those of others are dropped first.
    """
    stored = {entry.key for entry in state.store.entries}
    records = dict(state.records)
    if len(records) >= 2 * len(stored):
        records = {other: updates for other, updates in records.items() if other in stored}
    return state._replace(records=tuple(sorted({**records, key: content}.items())))
