"""The single-writer ring buffer.   [spec/06-ring-buffer.md]"""

from __future__ import annotations

from . import ring_moves as moves
from .component import Outcome, Raised
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
    plainer,
)
from .ring_buffer_properties import PROPERTIES
from .ring_buffer_rules import ASPECTS, CULPRITS, RULES
from .ring_buffer_search import PRESETS, operations
from .ring_buffer_state import ID_MAX, Config, State
from .ring_moves import HEADER, Chunk, Ring

__all__ = [
    "ASPECTS",
    "CULPRITS",
    "ID_MAX",
    "NAME",
    "NAME_LENGTH",
    "PRESETS",
    "PROPERTIES",
    "RULES",
    "Access",
    "Allocate",
    "Another",
    "Attach",
    "ByReader",
    "Claimed",
    "Clear",
    "Close",
    "CloseAgain",
    "Config",
    "Constants",
    "Create",
    "Fill",
    "Free",
    "Handle",
    "Largest",
    "Number",
    "Operation",
    "Owned",
    "ReaderLeaves",
    "Roles",
    "Secret",
    "State",
    "Unnamed",
    "bare",
    "initial",
    "observe",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "ring-buffer"
SECRET_BYTES = 32
NAME_LENGTH = 30
"""Characters of a name that every system allows."""
LARGEST_CHUNK = 2**31 - 1
"""Bytes of a chunk: more do not fit its header.   [RB-09]"""
NO_ROOM = Raised("MemoryError")
REFUSED = Raised("AssertionError")
CLOSED = Raised("AssertionError", says="has been closed")
NOT_A_CHUNK = Raised("ValueError", says="has been modified or is invalid")
PREDICATE_FAILED = Raised("RuntimeError", says="is_free failed")
DISABLED = Outcome("disabled")


def initial(config: Config) -> State:
    """An empty ring."""
    return State(moves.empty(config.first_id, config.id_max))


def bare(config: Config) -> Config:
    """Capacity and ids alone."""
    return Config(config.capacity, config.id_max, first_id=config.first_id)


def view(state: State) -> tuple[object, ...]:
    """Everything but what is in the payloads; of a closed ring, whether it has chunks."""
    return (bool(state.ring.chunks),) if state.is_closed else state.ring


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state; `segment`: is it there?   [RB-12, RB-13, RB-20, RB-36]"""
    ring = state.ring
    return {
        "segment": not state.is_closed,
        "begin": ring.begin,
        "end": ring.end,
        "first_id": ring.chunks[0].id if ring.chunks else ring.next_id,
        "next_id": ring.next_id,
        "ids": tuple([chunk.id for chunk in ring.chunks]),
        "addresses": tuple([(chunk.id, chunk.begin) for chunk in ring.chunks]),
        "headers": tuple([(chunk.id, chunk.size) for chunk in ring.chunks]),
        "payloads": tuple(
            [(chunk.id, *_shown(chunk, fill)) for chunk, fill in zip(ring.chunks, state.fills, strict=True)]
        ),
    }


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API."""
    if state.is_closed:
        return _step_closed(state, operation)
    ring = state.ring
    match operation:
        case Allocate(nbytes, fill):
            return _allocate(config, state, nbytes, fill)
        case Access(address, _):
            return state, _access(config, state, address)
        case Fill(address, fill, _):
            return _fill(config, state, address, fill)
        case Free():
            return _free(config, state, operation)
        case Clear():
            return State(moves.clear(ring)), Outcome("cleared")
        case ByReader():
            return state, Outcome("refused", REFUSED)
        case ReaderLeaves():
            return state, Outcome("left", True)
        case Handle():
            return state, Outcome("read", (config.capacity, True))
        case Secret():
            return state, Outcome("read", (SECRET_BYTES, True, True, True))
        case Constants():
            return state, Outcome("read", (SECRET_BYTES, SECRET_BYTES, 4, 4, HEADER, ID_MAX))
        case Roles():
            return state, Outcome("read", ((config.capacity, True), (config.capacity, False)))
        case Number(number):
            encoded = tuple(number.to_bytes(4, "little", signed=True))
            return state, Outcome("converted", (encoded, number))
        case Another():
            return state, Outcome("empty", (0, 0, 0, 0, 0))
        case Unnamed():
            return state, Outcome("made", (True, True))
        case Claimed():
            return state, Outcome("claimed", True)
        case Owned():
            return state, Outcome("owned", True)
        case Largest():
            return state, Outcome("at-the-limit", (LARGEST_CHUNK, NO_ROOM.error, True))
        case Attach("longer"):
            return state, Outcome("attached", "attached")
        case Attach(to):
            return state, Outcome("refused", Raised("FileNotFoundError" if to == "nothing" else "Exception"))
        case Create():
            return state, Outcome("refused", Raised("FileExistsError"))
        case Close():
            return state._replace(is_closed=True), Outcome("closed", True)
        case CloseAgain():
            return state, Outcome("left", True)


def _step_closed(state: State, operation: Operation) -> tuple[State, Outcome]:
    """Every use of a closed ring is refused; closing it again is not.   [RB-30, RB-31]"""
    match operation:
        case Close():
            return state, Outcome("closed", True)
        case Allocate(nbytes) if nbytes > 0:
            return state, Outcome("closed", CLOSED)
        case Access(_, False):
            return state, Outcome("closed", CLOSED)
        case Free(None) if state.ring.chunks:
            return state, Outcome("closed", CLOSED)
    return state, DISABLED


def _allocate(config: Config, state: State, nbytes: int, fill: int) -> tuple[State, Outcome]:
    """`allocate_buf(n)`.   [RB-05, RB-06, RB-07, RB-08, RB-10, RB-11]"""
    ring, size = state.ring, nbytes + HEADER
    if nbytes <= 0:
        return state, Outcome("no-bytes", REFUSED)
    if moves.place(config.capacity, ring, size) is None:
        return state, Outcome("no-room", NO_ROOM)
    allocated = moves.allocate(config.capacity, config.id_max, ring, size)
    if allocated is None:
        return state, Outcome("id-live", NO_ROOM)
    after, chunk = allocated
    kind = "allocated" if chunk.begin == ring.end else "after-gap"
    return State(after, (*state.fills, fill)), Outcome(kind, (chunk.begin, chunk.id))


def _shown(chunk: Chunk, fill: int) -> tuple[int, int]:
    """A payload as it is described: its bytes, and their value."""
    return chunk.size - HEADER, fill


def _access(config: Config, state: State, address: int) -> Outcome:
    """`access_buf(address)`, where the model knows what lies there.   [RB-14, RB-15]"""
    place = moves.place_in(config.capacity, address)
    if config.capacity - place < HEADER:
        return Outcome("not-a-chunk", NOT_A_CHUNK)
    for chunk, fill in zip(state.ring.chunks, state.fills, strict=True):
        if place == moves.place_in(config.capacity, chunk.begin):
            return Outcome("read", (chunk.id, chunk.size, *_shown(chunk, fill)))
    size = _number_at(config, state, place + HEADER // 2)
    if size is None or HEADER < size <= config.capacity - place:
        return DISABLED
    return Outcome("not-a-chunk", NOT_A_CHUNK)


def _number_at(config: Config, state: State, place: int) -> int | None:
    """The number that four bytes in live chunks are, whether of headers or of payloads; else None."""
    known: dict[int, int] = {}
    for chunk, fill in zip(state.ring.chunks, state.fills, strict=True):
        header = b"".join(each.to_bytes(4, "little") for each in (chunk.id, chunk.size))
        begin = moves.place_in(config.capacity, chunk.begin)
        for at in range(max(place, begin), min(place + 4, begin + chunk.size)):
            known[at] = header[at - begin] if at < begin + HEADER else fill
    if len(known) < 4:
        return None
    return int.from_bytes(bytes(known[at] for at in sorted(known)), "little", signed=True)


def _fill(config: Config, state: State, address: int, fill: int) -> tuple[State, Outcome]:
    """Write through the view of a live chunk.   [RB-14]"""
    place = moves.place_in(config.capacity, address)
    for number, chunk in enumerate(state.ring.chunks):
        if moves.place_in(config.capacity, chunk.begin) == place:
            fills = (*state.fills[:number], fill, *state.fills[number + 1 :])
            return state._replace(fills=fills), Outcome("filled")
    return state, DISABLED


def _free(config: Config, state: State, operation: Free) -> tuple[State, Outcome]:
    """`free_buf(is_free, nbytes)`.   [RB-16, RB-17, RB-18, RB-19, RB-20, RB-24, RB-25]"""
    ring, capacity = state.ring, config.capacity
    asked: list[Chunk] = []

    def is_free(chunk: Chunk) -> bool:
        asked.append(chunk)
        return chunk.id not in operation.refuses and chunk.id != operation.raises

    after, ids = moves.free(capacity, ring, is_free, operation.nbytes)
    if operation.raises in [chunk.id for chunk in asked if chunk.id not in operation.refuses]:
        return state, Outcome("raised", PREDICATE_FAILED)
    shown = tuple([(chunk.id, *_shown(chunk, state.fills[place])) for place, chunk in enumerate(asked)])
    result = Outcome(_kind_of_free(config, ring, operation.nbytes, len(ids), len(asked)), (ids, shown))
    return State(after, state.fills[len(ids) :]), result


def _kind_of_free(config: Config, ring: Ring, nbytes: int | None, freed: int, asked: int) -> str:
    """What `free_buf` did: what ended it, or that nothing did."""
    if not ring.chunks:
        return "nothing"
    if nbytes is not None and nbytes <= 0:
        return "no-bytes"
    if len(ring.chunks) == config.id_max:
        return "all-ids-live"
    if freed == len(ring.chunks):
        return "all"
    if asked == freed:
        return "limited"
    return "freed" if freed else "held"
