"""The state of the object store, and the moves that its operations are made of.   [spec/07-object-store.md]

The chunks are the intervals of `ring_moves`; beside each stands what the store knows of it. A handle that was
issued is kept for good, so that it can be shown again when its chunk is long gone.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from . import ring_moves
from .component import Content
from .ring_moves import HEADER, Chunk, Ring, place_in

READER_COUNT = 4
"""Bytes of the reader count at the beginning of a payload."""
SEAL = 16
"""Bytes of the seal at the beginning of the metadata."""
METADATA = SEAL + 3
"""Bytes of the metadata of the serde that the model counts with: room for the seal, and a number."""
OVERHEAD = HEADER + READER_COUNT + METADATA
"""Bytes of a chunk besides the content."""
ID_MAX = 2**31
"""How many ids there are."""


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`capacity` and `max_object_size` in bytes; how many readers; how many ids, and the `first_id`.

    `keys` and `sizes` (bytes of content) are what the search tries; `puts` and `clears` how many there may be
    in a run; objects are touched and get another reference up to the put with the number `held`. When it
    `only_puts_and_reads`, each object is read once, the oldest first, and the last put has the last size.
    """

    capacity: Annotated[int, msgspec.Meta(ge=OVERHEAD, le=1 << 20)]
    max_object_size: Annotated[int, msgspec.Meta(ge=0, le=1 << 21)]
    readers: Annotated[int, msgspec.Meta(ge=1, le=4)] = 1
    id_max: Annotated[int, msgspec.Meta(ge=2, le=ID_MAX)] = ID_MAX
    keys: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    puts: int = 0
    held: int = 0
    clears: int = 0
    only_puts_and_reads: bool = False
    first_id: Annotated[int, msgspec.Meta(ge=0, lt=ID_MAX)] = 0


class Object(NamedTuple):
    """What the writer knows of a chunk, and its reader count."""

    key: str
    content: Content
    references: int = 1
    reads: int = 0
    is_touched: bool = False


class Handle(NamedTuple):
    """A handle that was issued.

    `is_overwritten`: another chunk was laid over its place since; `is_mimicked`: with bytes that look like
    its own chunk; `is_void`: its id was given again, so that nobody can tell it from another.
    """

    key: str
    chunk: Chunk
    content: Content
    is_overwritten: bool = False
    is_mimicked: bool = False
    is_void: bool = False


class State(NamedTuple):
    """Ring and objects, oldest first; the handles issued, newest first; how often there was a clear."""

    ring: Ring = Ring()
    objects: tuple[Object, ...] = ()
    handles: tuple[Handle, ...] = ()
    puts: int = 0
    clears: int = 0


def size_of(content: Content) -> int:
    """Bytes of the chunk of a content."""
    return OVERHEAD + content.nbytes


def find(state: State, key: str) -> int | None:
    """The place of a stored key among the objects."""
    for place, each in enumerate(state.objects):
        if each.key == key:
            return place
    return None


def handle_of(state: State, key: str, back: int = 0) -> Handle | None:
    """The handle that was issued for a key, so many before its newest."""
    mine = [handle for handle in state.handles if handle.key == key]
    return mine[back] if back < len(mine) else None


def live_place(state: State, handle: Handle) -> int | None:
    """The place of a handle's chunk among those that are live."""
    for place, (chunk, each) in enumerate(zip(state.ring.chunks, state.objects, strict=True)):
        if chunk.id == handle.chunk.id and each.key == handle.key and chunk.begin == handle.chunk.begin:
            return place
    return None


def is_free(config: Config, each: Object) -> bool:
    """May its chunk go?   [OS-25]"""
    return not each.is_touched and each.reads >= each.references * config.readers


def freed(config: Config, state: State, nbytes: int) -> State:
    """The state after freeing in order, until `nbytes` bytes are free or a chunk is not.   [OS-04, OS-27]"""
    known = dict(zip([chunk.id for chunk in state.ring.chunks], state.objects, strict=True))
    ring, gone = ring_moves.free(
        config.capacity, state.ring, lambda chunk: is_free(config, known[chunk.id]), nbytes
    )
    return state._replace(ring=ring, objects=state.objects[len(gone) :]) if gone else state


def cleared(state: State) -> State:
    """The state without objects; ids go on.   [OS-28, OS-29]"""
    return state._replace(ring=ring_moves.clear(state.ring), objects=(), clears=state.clears + 1)


def make_room(config: Config, state: State, size: int) -> tuple[State, str]:
    """Free what must go for a chunk of `size` bytes, and say how that went.   [OS-04, OS-05]"""

    def fits() -> bool:
        return ring_moves.place(config.capacity, state.ring, size) is not None

    if fits():
        return state, "stored"
    state = freed(config, state, 2 * config.max_object_size)
    if fits():
        return state, "made_room"
    while state.objects and is_free(config, state.objects[0]):
        state = freed(config, state, 1)
        if fits():
            return state, "made_more_room"
    return state, "blocked"


def offset_of(config: Config, state: State, content: Content, handle: Handle | None) -> int | None:
    """Where in this content the place of an old handle will lie, if there is room in it for a whole chunk."""
    if handle is None or handle.is_void or live_place(state, handle) is not None:
        return None
    size = size_of(content)
    if size > config.capacity or size - HEADER > config.max_object_size:
        return None
    ready, _ = make_room(config, state, size)
    begin = ring_moves.place(config.capacity, ready.ring, size)
    if begin is None:
        return None
    offset = place_in(config.capacity, handle.chunk.begin) - place_in(config.capacity, begin) - OVERHEAD
    return offset if 0 <= offset <= content.nbytes - OVERHEAD else None
