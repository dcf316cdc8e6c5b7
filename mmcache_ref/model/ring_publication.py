"""One place of the segment, word by word, while a writer uses it again.   [spec/07-object-store.md]

Every step is one load or store, or one move of the lock, of one process. An old object `a` lies there,
complete, and the writer puts `b` in its place; `?` is a word that a client chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .component import Op, Outcome
from .publication_accesses import WORDS, Access, Program
from .publication_environment import ACCIDENTS, PRESETS, Config, configure

__all__ = [
    "ACCIDENTS",
    "NAME",
    "PRESETS",
    "Config",
    "State",
    "configure",
    "initial",
    "observe",
    "operations",
    "step",
    "view",
]

NAME = "ring-publication"
CONDITIONS = frozenset(ACCIDENTS)
"""Accidents that say how the machine and the others behave, and are no steps of their own."""
WRITER = -1
DISABLED = Outcome("disabled")


class Count(NamedTuple):
    """The reader count: the object to whose chunk the word belongs, and the number in it."""

    owner: str
    number: int


class Memory(NamedTuple):
    """What every process would see now: of each word, whose it is; `""` is a seal that was wiped."""

    id: str = "a"
    size: str = "a"
    reader_count: Count = Count("a", 0)
    seal: str = "a"
    first: str = "a"
    last: str = "a"


class Get(NamedTuple):
    """A `get` under way: its handle, whether it must succeed, what was done, and what was loaded.

    `parts`: whose bytes were copied so far; `loaded_count`: the number that was loaded and not yet stored.
    """

    handle: str
    is_promised: bool
    done: int = 0
    parts: str = ""
    loaded_count: int | None = None


class State(NamedTuple):
    """The words, the lock, and how far every process is.

    `layout`: how the new object lies in the place, `""` before it is chosen; `written`: what the writer did,
    as bits; `used`: the handles that each reader has used; `acknowledged`: how many gets of `a` and of `b`
    have counted.
    """

    memory: Memory
    gets: tuple[Get | None, ...]
    used: tuple[str, ...]
    layout: str = ""
    written: int = 0
    is_sent: bool = False
    lock: int | None = None
    acknowledged: tuple[int, int] = (0, 0)


class Lay(Op, frozen=True, tag="lay"):
    """The writer's next chunk begins in the old place, or covers it with what a client chose."""

    layout: str


class Begin(Op, frozen=True, tag="begin"):
    """A reader begins a `get` of a handle."""

    reader: int
    handle: str


class Do(Op, frozen=True, tag="do"):
    """A process (-1: the writer) does the access at this place in its program."""

    process: int
    place: int
    kind: str
    word: str = ""


Operation = Lay | Begin | Do


def initial(config: Config) -> State:
    """The old object is complete, and nobody reads."""
    readers = len(config.reads)
    layout = config.layouts[0] if len(config.layouts) == 1 else ""
    memory = Memory() if config.has_seals else Memory(seal="")
    return State(memory, (None,) * readers, ("",) * readers, layout)


def view(state: State) -> State:
    """A state identifies itself."""
    return state


def observe(config: Config, state: State) -> Mapping[str, Any]:
    """The words of the place."""
    return {word: getattr(state.memory, word) for word in WORDS} | {"lock": state.lock}


def operations(config: Config, state: State) -> Iterator[Operation]:
    """What each process may do next."""
    if not state.layout:
        for layout in config.layouts:
            yield Lay(layout)
    else:
        yield from _next(config, WRITER, config.writers[state.layout], state.written)
    for reader, get in enumerate(state.gets):
        if get is not None:
            yield from _next(config, reader, config.reader, get.done)
            continue
        for handle in config.reads[reader]:
            if handle not in state.used[reader] and _has(config, state, handle):
                yield Begin(reader, handle)


def _next(config: Config, process: int, program: Program, done: int) -> Iterator[Do]:
    """The accesses of a process that nothing holds back but the lock and the count."""
    for place, needed in enumerate(program.waits_for):
        if not done >> place & 1 and needed & done == needed:
            known = config.letters.get((process, program.accesses[place], place))
            if known is None:
                access = program.accesses[place]
                known = Do(process, place, access.kind, access.word)
                config.letters[process, access, place] = known
            yield known


def _has(config: Config, state: State, handle: str) -> bool:
    """Whether a reader may have the handle: of the new object after it was sent, or by accident before."""
    if handle == "a":
        return True
    return state.layout == "same" and (state.is_sent or config.is_early)


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One access of one process."""
    if isinstance(operation, Lay):
        return state._replace(layout=operation.layout), Outcome("laid")
    if isinstance(operation, Begin):
        return _begin(config, state, operation)
    if operation.process == WRITER:
        return _write(config, state, operation.place)
    return _read(config, state, operation.process, operation.place)


def _begin(config: Config, state: State, operation: Begin) -> tuple[State, Outcome]:
    """A reader has a handle in its hand."""
    reader, handle = operation.reader, operation.handle
    is_promised = state.is_sent if handle == "b" else not config.clears and config.stale_reader is None
    used = state.used[reader] + handle
    after = state._replace(used=_with(state.used, reader, used))
    return _going(after, reader, Get(handle, is_promised)), Outcome("begun")


def _write(config: Config, state: State, place: int) -> tuple[State, Outcome]:
    """The writer's access at this place.   [OS-08, OS-25, OS-26]"""
    access = config.writers[state.layout].accesses[place]
    if access.kind == "await" and state.memory.reader_count.number < config.references:
        return state, DISABLED
    if access.kind == "acquire" and state.lock is not None:
        return state, DISABLED
    memory, lock = state.memory, state.lock
    if access.kind == "store":
        value: Any = Count(access.value, 0) if access.word == "reader_count" else access.value
        memory = memory._replace(**{access.word: value})
    elif access.kind in ("acquire", "release"):
        lock = WRITER if access.kind == "acquire" else None
    written = state.written | 1 << place
    is_sent = state.is_sent or access.kind == "send"
    return state._replace(memory=memory, written=written, is_sent=is_sent, lock=lock), Outcome("written")


def _read(config: Config, state: State, reader: int, place: int) -> tuple[State, Outcome]:
    """A reader's access at this place.   [OS-20, OS-21, OS-22, OS-23]"""
    get = state.gets[reader]
    access = config.reader.accesses[place]
    if get is None or (access.kind == "acquire" and state.lock is not None):
        return state, DISABLED
    if _differs(state.memory, access, get.handle):
        freed = None if state.lock == reader else state.lock
        return _going(state._replace(lock=freed), reader, None), Outcome("stale")
    after = state
    if access.kind == "store":
        after = _counted(state, get)
    elif access.kind in ("acquire", "release"):
        after = state._replace(lock=reader if access.kind == "acquire" else None)
    get = _loaded(state.memory, access, get)._replace(done=get.done | 1 << place)
    if get.done == config.reader.all_done:
        return _going(after, reader, None), Outcome("returned", get.parts)
    return _going(after, reader, get), Outcome("read")


def _differs(memory: Memory, access: Access, handle: str) -> bool:
    """Whether a word that is compared is not the handle's.   [OS-21, OS-22]"""
    return (
        access.kind == "load"
        and access.word in ("id", "size", "seal")
        and getattr(memory, access.word) != handle
    )


def _loaded(memory: Memory, access: Access, get: Get) -> Get:
    """What a reader knows after its access."""
    if access.word == "reader_count":
        return get._replace(loaded_count=memory.reader_count.number if access.kind == "load" else None)
    if access.word in ("first", "last"):
        return get._replace(parts="".join(sorted({*get.parts, getattr(memory, access.word)})))
    return get


def _counted(state: State, get: Get) -> State:
    """One more than was loaded, in whosoever chunk the word is now.   [OS-20, OS-32]"""
    old, new = state.acknowledged
    acknowledged = (old + 1, new) if get.handle == "a" else (old, new + 1)
    count = Count(state.memory.reader_count.owner, (get.loaded_count or 0) + 1)
    return state._replace(memory=state.memory._replace(reader_count=count), acknowledged=acknowledged)


def _going(state: State, reader: int, get: Get | None) -> State:
    """A reader is at this point of its `get`, or has ended it."""
    return state._replace(gets=_with(state.gets, reader, get))


def _with(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])
