"""What a search of the ring buffer tries.   [spec/06-ring-buffer.md]"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from . import ring_moves as moves
from .ring_buffer_alphabet import (
    Access,
    Allocate,
    Another,
    Attach,
    ByReader,
    Claimed,
    Clear,
    Close,
    CloseAgain,
    Constants,
    Create,
    Fill,
    Free,
    Handle,
    Largest,
    Number,
    Operation,
    Owned,
    ReaderLeaves,
    Roles,
    Secret,
    Unnamed,
)
from .ring_buffer_state import Config, State
from .ring_moves import HEADER, Ring

PRESETS = {
    "tiny": Config(capacity=60, id_max=4, sizes=(4, 20, 52)),
    "small": Config(capacity=64, id_max=6, sizes=(1, 8, 24, 56)),
}
BEFORE_ID = 5
"""From so many bytes before a chunk, the byte before it and three of its id look like a size."""


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with sizes, addresses and ids at the edges."""
    ring = state.ring
    if state.is_closed:
        yield Close()
        yield Allocate(1)
        yield Access(0)
        yield Free()
        return
    for nbytes in sorted({*config.sizes, *one_over(config.capacity, ring)}):
        yield Allocate(nbytes, fill=(19 * ring.next_id + 1) % 256)
    yield Allocate(0)
    yield Allocate(-1)
    for chunk in ring.chunks:
        yield Access(chunk.begin)
        yield Access(chunk.begin + config.capacity, by_reader=True)
        yield Fill(chunk.begin, fill=54 + chunk.id % 4, by_reader=chunk.id % 2 == 1)
    for address in suspicious(config.capacity, ring):
        yield Access(address)
    yield from looking_like_sizes(config.capacity, ring)
    yield Free()
    yield Free(nbytes=0)
    for count in range(1, len(ring.chunks)):
        held = ring.chunks[count].id
        whole = sum(chunk.size for chunk in ring.chunks[:count])
        yield Free(refuses=(held,))
        yield Free(nbytes=whole)
        yield Free(nbytes=whole + 1)
        yield Free(raises=held)
    for chunk in ring.chunks[:1]:
        yield Free(refuses=(chunk.id,))
        yield Free(nbytes=1)
    yield Clear()
    yield Handle()
    yield Roles()
    yield ReaderLeaves()
    yield ByReader("allocate")
    yield ByReader("free")
    yield ByReader("clear")
    yield Secret()
    yield Another()
    yield Attach("nothing")
    yield Attach("too-short")
    yield Attach("longer")
    yield Create()
    yield Constants()
    yield Number(ring.end)
    yield Number(-1 - ring.end)
    yield Unnamed()
    if not ring.chunks:
        yield Claimed()
        yield Owned()
        yield Largest()
    yield CloseAgain()
    yield Close()


def one_over(capacity: int, ring: Ring) -> Iterator[int]:
    """Bytes of payload of the smallest chunk that fits into no free stretch."""
    longest = max((stretch.length for stretch in moves.free_stretches(capacity, ring)), default=0)
    yield max(1, longest - HEADER + 1)


def suspicious(capacity: int, ring: Ring) -> Iterator[int]:
    """Addresses where no chunk begins: the last places of the area, and the middle of the last payload."""
    yield capacity - 1
    for chunk in ring.chunks[-1:]:
        if chunk.size >= 2 * HEADER:
            yield chunk.begin + chunk.size - HEADER


def looking_like_sizes(capacity: int, ring: Ring) -> Iterator[Operation]:
    """The id 0 of a chunk, with the byte before it, taken for a size: too large for the place; too small."""
    for before, chunk in pairwise(ring.chunks):
        if chunk.id == 0 and moves.place_in(capacity, chunk.begin) > HEADER:
            yield Access(chunk.begin - BEFORE_ID)
            for size in (HEADER, HEADER - 1):
                yield Fill(before.begin, fill=size)
                yield Access(chunk.begin - BEFORE_ID)
