"""The object store: one writer and its readers over one ring.   [spec/07-object-store.md]"""

from __future__ import annotations

from . import ring_moves
from .component import OneOf, Outcome, Raised
from .object_store_alphabet import (
    UNTYPED,
    Attach,
    AttachWithoutLock,
    Clear,
    CloseAnother,
    Damage,
    Forge,
    FreeUnused,
    Get,
    GetCached,
    GetLocked,
    GetOvertaken,
    IsCached,
    Operation,
    OwnGet,
    Plant,
    Put,
    PutFailing,
    ReaderTouch,
    ReaderWrites,
    ReleaseTouches,
    Signature,
    Touch,
    Travel,
    Unpickle,
    Verify,
    plainer,
)
from .object_store_apart import ANY_ERROR, apart
from .object_store_properties import PROPERTIES
from .object_store_rules import ASPECTS, CULPRITS, RULES
from .object_store_search import PRESETS, operations
from .object_store_state import (
    ID_MAX,
    METADATA,
    OVERHEAD,
    READER_COUNT,
    SEAL,
    Config,
    Handle,
    Object,
    State,
    cleared,
    find,
    freed,
    handle_of,
    is_free,
    live_place,
    make_room,
    offset_of,
    size_of,
)
from .ring_moves import HEADER, Chunk, place_in

__all__ = [
    "ASPECTS",
    "CULPRITS",
    "HEADER",
    "ID_MAX",
    "METADATA",
    "NAME",
    "OVERHEAD",
    "PRESETS",
    "PROPERTIES",
    "READER_COUNT",
    "RULES",
    "SEAL",
    "Attach",
    "AttachWithoutLock",
    "Clear",
    "CloseAnother",
    "Config",
    "Damage",
    "Forge",
    "FreeUnused",
    "Get",
    "GetCached",
    "GetLocked",
    "GetOvertaken",
    "Handle",
    "IsCached",
    "Operation",
    "OwnGet",
    "Plant",
    "Put",
    "PutFailing",
    "ReaderTouch",
    "ReaderWrites",
    "ReleaseTouches",
    "Signature",
    "State",
    "Touch",
    "Travel",
    "Unpickle",
    "Verify",
    "bare",
    "find",
    "handle_of",
    "initial",
    "is_free",
    "live_place",
    "make_room",
    "observe",
    "offset_of",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "object-store"

DUPLICATE = Raised("ValueError", says="already exists")
TOO_LARGE = Raised("ValueError", says="exceeds max object size")
NO_ROOM = Raised("MemoryError", says="enough space")
MEMORY_ERROR = Raised("MemoryError")
SIGNATURE = Raised("ValueError", says="SHM handle signature")
MODIFIED = Raised("ValueError", says="has been modified or is invalid")
LOCKED = Raised("RuntimeError", says="may have died holding")
GONE = OneOf((None, MODIFIED))
"""What a look at a chunk that is gone may give."""


def initial(config: Config) -> State:
    """An empty store; `ValueError` for a configuration in which nothing can be stored, or ids run out."""
    smallest = OVERHEAD + 1
    if config.capacity < smallest or config.max_object_size + HEADER < smallest or config.readers < 1:
        raise ValueError(f"no object fits: a chunk has at least {smallest} bytes, and somebody must read it")
    if config.id_max <= config.capacity // smallest:
        raise ValueError(f"{config.id_max} ids are too few for a ring of {config.capacity} bytes")
    return State(ring_moves.empty(config.first_id, config.id_max))


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state.   [OS-30, OS-32]"""
    chunks, objects, ring = state.ring.chunks, state.objects, state.ring
    keys = tuple([each.key for each in objects])
    return {
        "length": len(keys),
        "reads": tuple([(each.key, each.reads) for each in objects]),
        "order": keys,
        "references": tuple([(each.key, each.references) for each in objects]),
        "touched": tuple(sorted(each.key for each in objects if each.is_touched)),
        "indexes": tuple([(chunk.id, each.key) for chunk, each in zip(chunks, objects, strict=True)]),
        "chunks": tuple([(chunk.id, chunk.begin) for chunk in chunks]),
        "headers": tuple([(chunk.id, chunk.size) for chunk in chunks]),
        "bounds": (ring.begin, ring.end, ring.next_id),
        "contents": tuple([(each.key, each.content) for each in objects]),
        "seals": tuple([(each.key, True) for each in objects]),
        "old_seals": (),
    }


def bare(config: Config) -> Config:
    """Sizes and numbers alone."""
    return Config(
        config.capacity, config.max_object_size, config.readers, config.id_max, first_id=config.first_id
    )


def view(state: State) -> tuple[object, ...]:
    """What is live, and of each key the newest handle that is not: ids decide what may look like what."""
    stale = [handle for handle in state.handles if live_place(state, handle) is None]
    last = {
        handle.key: (handle.chunk, handle.is_overwritten, handle.is_mimicked) for handle in reversed(stale)
    }
    return state.ring, state.objects, tuple(sorted(last.items())), state.clears


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API."""
    match operation:
        case Put(key, content, _):
            return _put(config, state, Object(key, content))
        case PutFailing(key, content, while_copying):
            return _put(
                config, state, Object(key, content), fails="copying" if while_copying else "serialising"
            )
        case Plant():
            return _plant(config, state, operation)
        case IsCached(key):
            return state, Outcome("asked", find(state, key) is not None)
        case GetCached(key):
            return _get_cached(state, key)
        case Touch(key):
            place = find(state, key)
            if place is None:
                return state, Outcome("miss")
            return _changed(state, place, is_touched=True), Outcome("touched")
        case ReleaseTouches():
            released = tuple([each._replace(is_touched=False) for each in state.objects])
            return state._replace(objects=released), Outcome("released")
        case Signature(key):
            if find(state, key) is None:
                return state, Outcome("miss", Raised("KeyError"))
            return state, Outcome("signed", True)
        case Get(key, back, reader):
            handle = handle_of(state, key, back)
            return _get(config, state, handle) if reader < config.readers else DISABLED(state)
        case GetLocked(key):
            return DISABLED(state) if find(state, key) is None else (state, Outcome("in vain", LOCKED))
        case GetOvertaken():
            return _get_overtaken(config, state, operation)
        case OwnGet(key):
            place = find(state, key)
            return (
                DISABLED(state) if place is None else (state, Outcome("read", state.objects[place].content))
            )
        case ReaderTouch(key, back, reader):
            handle = handle_of(state, key, back)
            if handle is None or handle.is_void or reader >= config.readers:
                return DISABLED(state)
            if live_place(state, handle) is not None:
                return state, Outcome("in place")
            return state, Outcome("gone", GONE)
        case Verify(key, back, on_reader):
            return _verify(state, handle_of(state, key, back), on_reader)
        case Forge():
            return _forge(state, operation)
        case FreeUnused():
            return _free_unused(config, state)
        case Clear():
            return cleared(state), Outcome("cleared")
        case Attach(key):
            place = find(state, key)
            if place is None:
                return DISABLED(state)
            each = state.objects[place]
            after = _changed(state, place, reads=each.reads + 1)
            return after, Outcome("attached", (config.max_object_size, config.readers, each.content))
    return state, apart(operation)


def DISABLED(state: State) -> tuple[State, Outcome]:  # noqa: N802 - reads as the outcome that it is
    """The operation has no meaning in this state."""
    return state, Outcome("disabled")


def _changed(state: State, place: int, **changes: object) -> State:
    """The state with one object changed."""
    objects = list(state.objects)
    objects[place] = objects[place]._replace(**changes)  # type: ignore[arg-type]
    return state._replace(objects=tuple(objects))


def _put(config: Config, state: State, new: Object, fails: str = "") -> tuple[State, Outcome]:
    """`put`: what refuses it, in this order.   [OS-01 … OS-07]"""
    size = size_of(new.content)
    if new.content.nbytes == 0:
        return DISABLED(state)
    if find(state, new.key) is not None:
        return state, Outcome("duplicate", DUPLICATE)
    if fails == "serialising":
        return state, Outcome("failed", ANY_ERROR)
    if size - HEADER > config.max_object_size:
        return state, Outcome("too_large", TOO_LARGE)
    if size > config.capacity:
        return state, Outcome("never_fits", MEMORY_ERROR)
    state, kind = make_room(config, state, size)
    if kind == "blocked":
        return state, Outcome(kind, NO_ROOM)
    if fails:
        return state, Outcome("failed", ANY_ERROR)
    after, chunk = _stored(config, state, new)
    return after, Outcome(kind, (chunk.begin, chunk.id))


def _stored(config: Config, state: State, new: Object) -> tuple[State, Chunk]:
    """The state with a new object, for which there is room, and its chunk."""
    found = ring_moves.allocate(config.capacity, config.id_max, state.ring, size_of(new.content))
    assert found is not None
    ring, chunk = found
    old = tuple([_beside(config, handle, chunk) for handle in state.handles])
    handle = Handle(new.key, chunk, new.content)
    return State(ring, (*state.objects, new), (handle, *old), state.puts + 1, state.clears), chunk


def _beside(config: Config, handle: Handle, new: Chunk) -> Handle:
    """A handle after a new chunk was laid."""
    mine, theirs = place_in(config.capacity, handle.chunk.begin), place_in(config.capacity, new.begin)
    overlaps = mine < theirs + new.size and theirs < mine + handle.chunk.size
    return handle._replace(
        is_overwritten=handle.is_overwritten or overlaps,
        is_mimicked=handle.is_mimicked and not overlaps,
        is_void=handle.is_void or handle.chunk.id == new.id,
    )


def _plant(config: Config, state: State, operation: Plant) -> tuple[State, Outcome]:
    """`put` of a value that deceives an old handle.   [OS-42]"""
    handle = handle_of(state, operation.victim, operation.back)
    offset = offset_of(config, state, operation.content, handle)
    if handle is None or offset != operation.offset or find(state, operation.key) is not None:
        return DISABLED(state)
    after, stored = _put(config, state, Object(operation.key, operation.content))
    handles = tuple(
        [each._replace(is_mimicked=True) if each.chunk == handle.chunk else each for each in after.handles]
    )
    return after._replace(handles=handles), stored._replace(kind="planted")


def _free_unused(config: Config, state: State) -> tuple[State, Outcome]:
    """`free_unused`: what stops it.   [OS-25, OS-27, OS-33]"""
    after = freed(config, state, 2 * config.max_object_size)
    if state.objects and after is state:
        return after, Outcome("held")
    return after, Outcome("freed" if after.objects else "reclaimed")


def _get_cached(state: State, key: str) -> tuple[State, Outcome]:
    """`get_cached`: one more reference.   [OS-10, OS-11]"""
    place = find(state, key)
    if place is None:
        return state, Outcome("miss", Raised("KeyError"))
    chunk, each = state.ring.chunks[place], state.objects[place]
    after = _changed(state, place, references=each.references + 1, is_touched=False)
    return after, Outcome("hit", (chunk.begin, chunk.id))


def _get(config: Config, state: State, handle: Handle | None) -> tuple[State, Outcome]:
    """`get` of a reader, with whatever handle.   [OS-20, OS-21, OS-22, OS-29, OS-42]"""
    if handle is None or handle.is_void:
        return DISABLED(state)
    place = live_place(state, handle)
    if place is not None:
        return _changed(state, place, reads=state.objects[place].reads + 1), Outcome("read", handle.content)
    if not handle.is_overwritten:
        return state, Outcome("gone", OneOf((handle.content, MODIFIED)))
    return state, Outcome(_now_at(config, state, handle), MODIFIED)


def _now_at(config: Config, state: State, handle: Handle) -> str:
    """What now lies at the place of a handle: another chunk begins there, which has another id; or some other
    bytes, among them those that were `planted`, and a reader count that `looks_alike`."""
    if handle.is_mimicked:
        return "planted"
    here = place_in(config.capacity, handle.chunk.begin)
    for chunk, each in zip(state.ring.chunks, state.objects, strict=True):
        begin = place_in(config.capacity, chunk.begin)
        if begin == here:
            return "replaced"
        if begin + HEADER == here and each.reads == handle.chunk.id:
            return "looks_alike"
    return "overwritten"


def _get_overtaken(config: Config, state: State, operation: GetOvertaken) -> tuple[State, Outcome]:
    """`get` in the middle of which the writer clears and puts another object.   [OS-41, OS-23]"""
    handle = handle_of(state, operation.key)
    if handle is None or live_place(state, handle) is None:
        return DISABLED(state)
    after, stored = _put(config, cleared(state), Object(operation.other, operation.content))
    if stored.kind != "stored":
        return DISABLED(state)
    kind = "overtaken_late" if operation.is_late else "overtaken"
    return after, Outcome(kind, OneOf((handle.content, MODIFIED)), ("as clear", "as put"))


def _verify(state: State, handle: Handle | None, on_reader: bool) -> tuple[State, Outcome]:
    """`verify_signature` of a handle that is signed rightly.   [OS-16, OS-17]"""
    if handle is None or handle.is_void:
        return DISABLED(state)
    if on_reader:
        return state, Outcome("signed")
    is_current = live_place(state, handle) is not None
    return state, Outcome("current") if is_current else Outcome("outdated", SIGNATURE)


def _forge(state: State, operation: Forge) -> tuple[State, Outcome]:
    """A handle that a client has changed.   [OS-16, OS-17, OS-18, OS-19]"""
    handle = handle_of(state, operation.key)
    if handle is None or handle.is_void:
        return DISABLED(state)
    told = {"bool address": handle.chunk.begin, "bool id": handle.chunk.id}.get(operation.forgery, 0)
    if told > 1:
        return DISABLED(state)
    kind = "untyped" if operation.forgery in UNTYPED else f"forged for {operation.call}"
    return state, Outcome(kind, SIGNATURE)
