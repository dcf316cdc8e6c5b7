"""The store in shared memory as P0's cache uses it, in units: put, look up, acknowledge, clear.

Each chunk has a reference for every handle that was handed out, and counts what the workers have
acknowledged.   [spec/07-object-store.md, spec/08-shm-caches.md]
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from . import ring_moves as moves
from .component import Content
from .ring_moves import Chunk, Ring

ID_MAX = 1 << 31
"""Ids of chunks start again there."""


class Handle(NamedTuple):
    """What names a chunk: its key, its id and its virtual address."""

    key: str
    id: int
    begin: int


class Entry(NamedTuple):
    """What is in a chunk: its key and content, the references handed out, the reads counted."""

    key: str
    content: Content
    references: int = 1
    acknowledged: int = 0


class Store(NamedTuple):
    """The chunks of the ring with their entries, oldest first; how many read them; hits and lookups of P0."""

    workers: int
    ring: Ring = Ring()
    entries: tuple[Entry, ...] = ()
    hits: int = 0
    total: int = 0


def place_of(store: Store, key: str) -> int | None:
    """Where among the entries the key is; None when it is not stored.   [SC-07]"""
    return next((place for place, entry in enumerate(store.entries) if entry.key == key), None)


def handle_at(store: Store, place: int) -> Handle:
    """The current handle of the entry at this place."""
    chunk = store.ring.chunks[place]
    return Handle(store.entries[place].key, chunk.id, chunk.begin)


def holder(store: Store, handle: Handle) -> int | None:
    """The place of the entry that a handle names; None when its chunk is gone.   [SC-23]"""
    return next((place for place, chunk in enumerate(store.ring.chunks) if chunk.id == handle.id), None)


def is_free(entry: Entry, workers: int) -> bool:
    """Every worker has acknowledged every reference.   [OS-25]"""
    return entry.acknowledged >= entry.references * workers


def look_up(store: Store, place: int) -> Store:
    """A hit: one more reference.   [SC-03]"""
    entry = store.entries[place]
    entries = _with(store.entries, place, entry._replace(references=entry.references + 1))
    return store._replace(entries=entries, hits=store.hits + 1, total=store.total + 1)


def put(
    capacity: int, limit: int, store: Store, touched: Collection[str], key: str, content: Content
) -> tuple[Store, str]:
    """A new item, and whether it was `put`, is `too-large`, or has `no-room`.   [SC-02, SC-05, SC-36, SC-37]

    What is larger than the limit or the ring is refused before anything is freed. Otherwise, if there is no
    place, one pass frees from the oldest on up to twice the limit. In whole units that is always enough: the
    gap that an item leaves is smaller than itself. If there is no place then, a chunk that is not free is in
    the way.   [OS-03, OS-04, OS-05, OS-06]
    """
    counted = store._replace(total=store.total + 1)
    size = content.nbytes
    if size > limit or size > capacity:
        return counted, "too-large"
    entry_of = dict(zip(store.ring.chunks, store.entries, strict=True))

    def may_go(chunk: Chunk) -> bool:
        entry = entry_of[chunk]
        return entry.key not in touched and is_free(entry, store.workers)

    ring, gone = store.ring, tuple[int, ...]()
    if moves.place(capacity, ring, size) is None:
        ring, gone = moves.free(capacity, ring, may_go, 2 * limit)
    left = store.entries[len(gone) :]
    made = moves.allocate(capacity, ID_MAX, ring, size)
    if made is None:
        return counted._replace(ring=ring, entries=left), "no-room"
    return counted._replace(ring=made[0], entries=(*left, Entry(key, content))), "put"


def acknowledge(store: Store, handles: Collection[Handle]) -> tuple[Store, tuple[Handle, ...]]:
    """One worker reads these handles; the store after it, and those whose chunk is gone.   [SC-19, SC-23]"""
    entries = store.entries
    gone: list[Handle] = []
    for handle in handles:
        place = holder(store, handle)
        if place is None:
            gone.append(handle)
        else:
            entry = entries[place]
            entries = _with(entries, place, entry._replace(acknowledged=entry.acknowledged + 1))
    return store._replace(entries=entries), tuple(gone)


def clear(store: Store) -> Store:
    """Nothing is stored any more, and the counters are zero; ids go on.   [SC-12]"""
    return Store(store.workers, moves.clear(store.ring))


def _with(entries: tuple[Entry, ...], place: int, entry: Entry) -> tuple[Entry, ...]:
    return (*entries[:place], entry, *entries[place + 1 :])
