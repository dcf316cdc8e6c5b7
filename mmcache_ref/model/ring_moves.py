"""Chunks in a ring as intervals: where one goes, which leave, and what must hold of them all.

    virtual     0 ............ capacity ........ 2 * capacity ....   one lap after another
    a lap       the place of the whole area, once; a chunk lies in one lap
    free        [end, begin + capacity): at most the rest of a lap, and the start of the next one

Placing looks for the first free stretch of one lap that is long enough, so there is no arithmetic on places
here: a chunk's place in memory is its virtual address less the start of its lap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

HEADER = 8
"""Bytes before each payload: id and size of the chunk, 4 bytes each."""


class Chunk(NamedTuple):
    """A chunk: its virtual address as it was handed out, and its bytes with the header."""

    id: int
    begin: int
    size: int


class Ring(NamedTuple):
    """Chunks oldest first; the virtual addresses between which they lie; the id of the next one."""

    chunks: tuple[Chunk, ...] = ()
    begin: int = 0
    end: int = 0
    next_id: int = 0


def empty(first_id: int, id_max: int) -> Ring:
    """A ring without chunks; its first id is `first_id`, below `id_max`, where ids wrap."""
    if first_id >= id_max:
        raise ValueError(f"ids below {id_max} cannot begin with {first_id}")
    return Ring(next_id=first_id)


class Stretch(NamedTuple):
    """The virtual addresses from `begin` up to, and not including, `end`."""

    begin: int
    end: int

    @property
    def length(self) -> int:
        """Bytes."""
        return self.end - self.begin


def free_stretches(capacity: int, ring: Ring) -> Iterator[Stretch]:
    """What is free, in order, each stretch within one lap."""
    if capacity <= 0:
        return
    begin, limit = ring.end, ring.begin + capacity
    while begin < limit:
        lap_end = begin - place_in(capacity, begin) + capacity
        yield Stretch(begin, min(lap_end, limit))
        begin = lap_end


def place(capacity: int, ring: Ring, size: int) -> int | None:
    """The virtual address of a chunk of `size` bytes; None where no free stretch is long enough.   [RB-05]"""
    return next((free.begin for free in free_stretches(capacity, ring) if free.length >= size), None)


def allocate(capacity: int, id_max: int, ring: Ring, size: int) -> tuple[Ring, Chunk] | None:
    """The ring with one more chunk of `size` bytes, and that chunk; None where there is no room, or where its
    id is that of a live chunk.   [RB-05, RB-06, RB-07, RB-10, RB-11]"""
    begin = place(capacity, ring, size)
    if begin is None or ring.next_id in [chunk.id for chunk in ring.chunks]:
        return None
    chunk = Chunk(ring.next_id, begin, size)
    return Ring((*ring.chunks, chunk), ring.begin, begin + size, (chunk.id + 1) % id_max), chunk


def free(
    capacity: int, ring: Ring, is_free: Callable[[Chunk], bool], nbytes: int | None = None
) -> tuple[Ring, tuple[int, ...]]:
    """The ring without its oldest chunks, up to the first that is not free or until `nbytes` bytes of chunks
    (None: without limit) have left; and the ids of those that left, in order.   [RB-16, RB-17, RB-18, RB-24]
    """
    left = 0
    gone = 0
    for chunk in ring.chunks:
        if (nbytes is not None and left >= nbytes) or not is_free(chunk):
            break
        left += chunk.size
        gone += 1
    ids = tuple([chunk.id for chunk in ring.chunks[:gone]])
    return (drop_oldest(capacity, ring, gone), ids) if gone else (ring, ids)


def drop_oldest(capacity: int, ring: Ring, count: int) -> Ring:
    """The ring without its `count` oldest chunks: begin is the place of the next one.   [RB-20]"""
    chunks = ring.chunks[count:]
    if not chunks:
        return clear(ring)
    begin = place_in(capacity, chunks[0].begin)
    return ring._replace(chunks=chunks, begin=begin, end=begin + sum(held(capacity, chunks)))


def clear(ring: Ring) -> Ring:
    """A ring without chunks; ids go on.   [RB-21]"""
    return Ring(next_id=ring.next_id)


def held(capacity: int, chunks: tuple[Chunk, ...]) -> Iterator[int]:
    """For each chunk the bytes that it holds: its own, and the gap behind it up to the next one."""
    for chunk, following in pairwise(chunks):
        behind = place_in(capacity, following.begin) - place_in(capacity, chunk.begin)
        yield behind if behind > 0 else behind + capacity
    if chunks:
        yield chunks[-1].size


def place_in(capacity: int, address: int) -> int:
    """Where a virtual address lies in the area: how far it is from the start of its lap."""
    return address % capacity


def are_apart(capacity: int, chunks: tuple[Chunk, ...]) -> bool:
    """Each chunk lies within the area and within one lap, and none over another.   [RB-22]"""
    places = sorted((place_in(capacity, chunk.begin), chunk.size) for chunk in chunks)
    return all(begin + size <= capacity for begin, size in places) and all(
        begin + size <= following for (begin, size), (following, _) in pairwise(places)
    )


def is_accounted(capacity: int, ring: Ring) -> bool:
    """Live bytes, the gap and free bytes make up the capacity; there is at most one gap, smaller than the
    chunk behind it.   [RB-23]"""
    live = sum(chunk.size for chunk in ring.chunks)
    left = sum(stretch.length for stretch in free_stretches(capacity, ring))
    wasted = [
        (whole - chunk.size, following.size)
        for whole, (chunk, following) in zip(held(capacity, ring.chunks), pairwise(ring.chunks), strict=False)
        if whole > chunk.size
    ]
    return (
        live + sum(gap for gap, _ in wasted) + left == capacity
        and len(wasted) <= 1
        and all(gap < behind for gap, behind in wasted)
    )


def is_in_first_lap(capacity: int, ring: Ring) -> bool:
    """Begin is the oldest chunk's place, in the first lap; end is at most the capacity behind.   [RB-20]"""
    if not ring.chunks:
        return ring.begin == ring.end == 0
    oldest = place_in(capacity, ring.chunks[0].begin)
    return ring.begin == oldest and ring.begin < ring.end <= ring.begin + capacity


def is_sound(capacity: int, ring: Ring) -> bool:
    """All that holds of every ring.   [RB-20, RB-22, RB-23, RB-11]"""
    return (
        are_apart(capacity, ring.chunks)
        and is_accounted(capacity, ring)
        and is_in_first_lap(capacity, ring)
        and len({chunk.id for chunk in ring.chunks}) == len(ring.chunks)
    )
