"""`model/object_store.py` and `ObjectStore.tla`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mmcache_ref.model import object_store
from mmcache_ref.model.component import Content, Outcome
from mmcache_ref.model.object_store import HEADER, OVERHEAD, Config, State
from mmcache_ref.tlc.bindings.base import Binding, described
from mmcache_ref.tlc.values import canonical

MOST_REFERENCES: Final = 2
FILL: Final = 1
TINY: Final = Config(capacity=80, max_object_size=80, keys=("a", "b"), sizes=(9,), puts=3, held=1, clears=1)
PRESETS: Final = {
    "tiny": TINY,
    "small": msgspec.structs.replace(TINY, sizes=(1, 9)),
    "blocked": msgspec.structs.replace(TINY, keys=("a", "b", "c"), sizes=(1, 9), clears=0),
    "readers": msgspec.structs.replace(TINY, capacity=103, max_object_size=32, readers=2, clears=0),
}
"""Smaller than those of the model's own search, which tries less in each state."""


def tried(config: Config, state: State) -> Iterator[object_store.Operation]:
    """What the module tries: every call with every key and size, as often as the bounds allow."""
    largest = config.max_object_size + HEADER - OVERHEAD
    for key in config.keys:
        place = object_store.find(state, key)
        stored = None if place is None else state.objects[place]
        if state.ring.next_id < config.puts:
            for nbytes in sorted({*config.sizes, largest, largest + 1}):
                yield object_store.Put(key, Content(nbytes, FILL))
        if stored is None or stored.reads < stored.references * config.readers:
            for reader in range(config.readers):
                yield object_store.Get(key, reader=reader)
        if stored is None or stored.references < MOST_REFERENCES:
            yield object_store.GetCached(key)
        yield object_store.Touch(key)
    yield object_store.ReleaseTouches()
    yield object_store.FreeUnused()
    if state.clears < config.clears:
        yield object_store.Clear()


def state(config: Config, state: State) -> Any:
    """`<<chunks, begin, end, nextId, stale, clears>>`"""
    ring = state.ring
    chunks = [
        {
            **chunk._asdict(),
            "key": each.key,
            "references": each.references,
            "reads": each.reads,
            "isTouched": each.is_touched,
        }
        for chunk, each in zip(ring.chunks, state.objects, strict=True)
    ]
    gone = [handle for handle in state.handles if object_store.live_place(state, handle) is None]
    newest = {handle.key: handle for handle in reversed(gone)}
    stale = {key: _handles(newest.get(key)) for key in config.keys}
    return tuple(chunks), ring.begin, ring.end, ring.next_id, stale, state.clears


def _handles(handle: object_store.Handle | None) -> Any:
    """No stale handle of a key, or the newest."""
    if handle is None:
        return frozenset()
    return frozenset([canonical({**handle.chunk._asdict(), "isOverwritten": handle.is_overwritten})])


def call(operation: object_store.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    match operation:
        case object_store.Put(key, content):
            return described(operation, outcome, key=key, nbytes=content.nbytes)
        case object_store.Get(key, _, reader):
            return described(operation, outcome, key=key, reader=reader)
        case object_store.GetCached(key) | object_store.Touch(key):
            return described(operation, outcome, key=key)
    return described(operation, outcome)


OBJECT_STORE: Final = Binding(
    object_store,
    state,
    call,
    tried=tried,
    presets=PRESETS,
    names=("chunks", "begin", "end", "nextId", "stale", "clears"),
)
