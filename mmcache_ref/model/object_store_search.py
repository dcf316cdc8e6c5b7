"""What a search of the object store tries.   [spec/07-object-store.md]"""

from __future__ import annotations

from collections.abc import Iterator

from .component import Content
from .object_store_alphabet import (
    CALLS,
    DAMAGED,
    FORGERIES,
    LAYOUTS,
    TRAVELLED,
    UNTYPED,
    WRITES,
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
)
from .object_store_state import (
    METADATA,
    OVERHEAD,
    READER_COUNT,
    Config,
    State,
    find,
    handle_of,
    live_place,
    offset_of,
)

PRESETS = {
    "tiny": Config(capacity=80, max_object_size=80, keys=("a", "b"), sizes=(1, 9), puts=4, held=1, clears=1),
    "small": Config(
        capacity=103,
        max_object_size=32,
        readers=2,
        keys=("a", "b", "c"),
        sizes=(1, 9),
        puts=6,
        held=3,
        clears=1,
    ),
}


def operations(config: Config, state: State) -> Iterator[Operation]:
    """The operations of the alphabet, as often as the bounds allow; of keys that are not stored the first."""
    stored = [each.key for each in state.objects]
    new = [key for key in config.keys if key not in stored][:1] if state.puts < config.puts else []
    if config.only_puts_and_reads:
        yield from _puts_and_reads(config, state, new)
        return
    yield from _asking(config, state)
    yield from _reading(config, state)
    for key in (*stored[:1], *new):
        for nbytes in config.sizes if state.puts < 2 or config.held > 1 else config.sizes[:1]:
            yield Put(key, Content(nbytes, fill=state.puts + 1))
    for key in new:
        yield from _odd_puts(config, state, key)
    if state.puts <= config.held:
        # Two reasons to stay make a puzzle enough.
        if all(each.references == 1 for each in state.objects):
            yield from map(GetCached, stored)
        if not any(each.is_touched for each in state.objects):
            yield from map(Touch, stored)
    yield ReleaseTouches()
    yield FreeUnused()
    if state.clears < config.clears:
        yield Clear()


def _puts_and_reads(config: Config, state: State, new: list[str]) -> Iterator[Operation]:
    """A put, the first read of the oldest object that was not read, and reads of what is gone."""
    is_last = state.puts == config.puts - 1
    for key in new:
        yield Put(key, Content(config.sizes[-1 if is_last else 0], fill=1))
    yield from [Get(each.key) for each in state.objects if each.reads == 0][:1]
    for key in config.keys:
        handle = handle_of(state, key)
        if handle is not None and live_place(state, handle) is None:
            yield Get(key)


def _asking(config: Config, state: State) -> Iterator[Operation]:
    """What changes nothing."""
    if state.puts <= 1 or config.held > 1:
        for key in config.keys:
            yield IsCached(key)
            yield Signature(key)
            yield OwnGet(key)
    if state.puts == state.ring.next_id == len(state.objects) == 1:
        key = state.objects[0].key
        for forgery in (*FORGERIES, *UNTYPED):
            for call in CALLS:
                yield Forge(key, forgery, call)
    if state.puts <= 1:
        yield from map(Unpickle, LAYOUTS)
        yield from map(ReaderWrites, WRITES)
        yield from map(GetCached, config.keys[-1:])
        yield from map(Touch, config.keys[-1:])
        yield AttachWithoutLock()
        yield CloseAnother()
    if not state.puts:
        yield from map(Damage, DAMAGED)
        yield from map(Travel, TRAVELLED)


def _reading(config: Config, state: State) -> Iterator[Operation]:
    """What readers do with the handles they have."""
    for key in config.keys:
        place = find(state, key)
        for back in (0, 1) if state.puts <= 2 or config.held > 1 else ():
            yield ReaderTouch(key, back)
            yield Verify(key, back)
            yield Verify(key, back, on_reader=True)
        if place is None or state.objects[place].reads < state.objects[place].references * config.readers:
            for reader in range(config.readers):
                yield Get(key, 0, reader)
            if state.puts == 1:
                yield Attach(key)
                yield GetLocked(key)
        yield Get(key, 1)


def _odd_puts(config: Config, state: State, key: str) -> Iterator[Operation]:
    """Puts that fail, and puts that look like something else."""
    smallest, largest = Content(1, fill=1), Content(config.max_object_size - READER_COUNT - METADATA, fill=1)
    yield Put(key, smallest, is_watched=True)
    yield PutFailing(key, smallest)
    yield PutFailing(key, smallest, while_copying=True)
    if state.puts == 1:
        for nbytes in (largest.nbytes, largest.nbytes + 1):
            yield PutFailing(key, Content(nbytes, fill=1), while_copying=True)
        yield from [PutFailing(each.key, smallest) for each in state.objects]
    if state.puts <= 1:
        yield Put(key, largest)
    yield Put(key, Content(largest.nbytes + 1, fill=1))
    if state.puts == 2:
        content = Content(min(config.capacity - OVERHEAD, largest.nbytes), fill=state.puts + 1)
        for victim in config.keys:
            offset = offset_of(config, state, content, handle_of(state, victim))
            if offset is not None:
                yield Plant(key, content, victim, offset)
    if state.clears < config.clears and state.puts == 1:
        for each in state.objects:
            for is_late in (True, False):
                yield GetOvertaken(each.key, key, Content(config.sizes[-1], fill=state.puts + 1), is_late)
