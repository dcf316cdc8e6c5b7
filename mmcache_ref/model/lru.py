"""The byte-budgeted LRU.   [spec/02-lru.md]"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import msgspec

from . import entries as moves
from .component import Content, Outcome, Raised
from .entries import Entries, is_sound
from .explore import Property
from .lru_alphabet import (
    Clear,
    Contains,
    Delete,
    Fresh,
    Get,
    GetItem,
    HitRatio,
    Keys,
    Length,
    Operation,
    Pairs,
    Pin,
    Pop,
    PopItem,
    Put,
    PutIfFits,
    RemoveOldest,
    SetDefault,
    SetItem,
    Stat,
    Touch,
    UpdateWith,
    Usage,
    View,
    plainer,
)
from .lru_rules import ASPECTS, CULPRITS, PINNING, RULES

__all__ = [
    "ASPECTS",
    "CULPRITS",
    "NAME",
    "PINNING",
    "PRESETS",
    "PROPERTIES",
    "RULES",
    "Clear",
    "Config",
    "Contains",
    "Delete",
    "Fresh",
    "Get",
    "GetItem",
    "HitRatio",
    "Keys",
    "Length",
    "Operation",
    "Pairs",
    "Pin",
    "Pop",
    "PopItem",
    "Put",
    "PutIfFits",
    "RemoveOldest",
    "SetDefault",
    "SetItem",
    "Stat",
    "State",
    "Touch",
    "UpdateWith",
    "Usage",
    "View",
    "bare",
    "initial",
    "observe",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "lru"


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`budget` in bytes; `keys` and `sizes` (bytes) are what the search tries."""

    budget: Annotated[int, msgspec.Meta(ge=0)]
    keys: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


PRESETS = {
    "tiny": Config(budget=2, keys=("a", "b", "c"), sizes=(0, 1, 2, 3)),
    "small": Config(budget=6, keys=("a", "b", "c", "d"), sizes=(0, 1, 2, 3, 5, 6, 7)),
}


class State(NamedTuple):
    """Entries least recent first, pinned keys in alphabetical order, counters, counters last reported."""

    entries: Entries = ()
    pins: tuple[str, ...] = ()
    hits: int = 0
    total: int = 0
    reported_hits: int = 0
    reported_total: int = 0


ANY_ERROR = Raised("Exception")
ALL_PINNED = Raised("RuntimeError")
TOO_LARGE = Raised("ValueError", says="value too large")


def initial(config: Config) -> State:
    """An empty cache."""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with every key and size of the configuration."""
    # Lookups first, so that the counters that are reported and cleared next are not zero.
    for key in config.keys:
        yield Get(key)
        yield GetItem(key)
    yield Stat()
    yield Fresh()
    yield HitRatio()
    yield Stat(delta=True)
    yield Stat(delta=True)
    yield Clear()
    yield Stat(delta=True)
    yield Length()
    for key in config.keys:
        yield Contains(key)
        yield Get(key, has_default=False)
        yield Touch(key)
        yield Pop(key)
        yield Pop(key, has_default=False)
        yield Delete(key)
        yield Pin(key)
        for nbytes in config.sizes:
            content = Content(nbytes, fill=len(state.entries) + 1)
            yield Put(key, content)
            yield SetItem(key, content)
            yield PutIfFits(key, content)
            if nbytes in config.sizes[-2:]:
                yield SetDefault(key, content)
    pairs = [(key, Content(nbytes, fill=7)) for key in config.keys[:1] for nbytes in config.sizes[-3:]]
    yield UpdateWith(())
    for pair in pairs:
        yield UpdateWith((pair, *((key, Content(1, fill=8)) for key in config.keys[-1:])))
    for remove_pinned in (False, True):
        yield RemoveOldest(remove_pinned)
        yield PopItem(remove_pinned)
    yield Usage()
    yield Keys()
    yield from map(View, config.keys[:1])
    yield Pairs(tuple([(key, Content(1, fill)) for fill, key in enumerate(config.keys)]))
    yield HitRatio()


def bare(config: Config) -> Config:
    """The budget alone."""
    return Config(config.budget)


def view(state: State) -> tuple[object, ...]:
    """Keys, sizes and pins: what decides which rule comes next."""
    return tuple([(key, content.nbytes) for key, content in state.entries]), state.pins


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state.   [LRU-01, LRU-02]"""
    order = moves.keys(state.entries)
    return {
        "order": order,
        "data": tuple(sorted(order)),
        "views": order,
        "values": state.entries,
        "pins": state.pins,
        "hits": state.hits,
        "total": state.total,
        "length": len(order),
        "bytes": moves.size(state.entries),
    }


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API."""
    match operation:
        case Contains(key):
            cached = moves.find(state.entries, key) is not None
            return state, Outcome("hit" if cached else "miss", cached)
        case Length():
            return state, Outcome("counted", len(state.entries))
        case GetItem(key):
            return _lookup(state, key, counts_misses=False)
        case Get(key, _):
            return _lookup(state, key, counts_misses=True)
        case Touch(key):
            touched = moves.touch(state.entries, key)
            return state._replace(entries=touched), Outcome("hit" if moves.find(touched, key) else "miss")
        case Pop(key, _):
            return _pop(state, key, missing=None, gives=True)
        case Delete(key):
            return _pop(state, key, missing=Raised("KeyError"), gives=False)
        case Put(key, content) | SetItem(key, content):
            after, kind = _store(config, state, key, content)
            return after, Outcome(kind, REFUSALS.get(kind), AS_NEW if kind == "grown" else ())
        case PutIfFits(key, content):
            after, kind = _store(config, state, key, content)
            if kind == "all_pinned":
                return after, Outcome(kind, ALL_PINNED, also=("as put",))
            return after, Outcome(kind, kind != "too_large", AS_NEW if kind == "grown" else ())
        case SetDefault(key, content):
            return _set_default(config, state, key, content)
        case UpdateWith(pairs):
            return _update(config, state, pairs)
        case Pin(key):
            if moves.find(state.entries, key) is None:
                return state, Outcome("miss", Raised("ValueError"))
            return state._replace(pins=tuple(sorted({*state.pins, key}))), Outcome("pinned")
        case RemoveOldest(remove_pinned):
            after, kind, _ = _remove_oldest(state, remove_pinned)
            return after, Outcome(kind, ALL_PINNED if kind == "all_pinned" else None)
        case PopItem(remove_pinned):
            after, kind, entry = _remove_oldest(state, remove_pinned)
            if kind == "empty":
                return after, Outcome(kind, ANY_ERROR if remove_pinned else ALL_PINNED)
            return after, Outcome(kind, entry or ALL_PINNED)
        case Clear():
            return State(), Outcome("cleared")
        case Stat(delta):
            return _stat(state, delta)
        case HitRatio():
            return state, Outcome("read", state.hits / state.total if state.total else 0)
        case Usage():
            usage = moves.size(state.entries) / config.budget if config.budget else 0
            return state, Outcome("read", (config.budget, config.budget, usage))
        case Keys():
            return state, Outcome("read", tuple(sorted(moves.keys(state.entries))))
        case View(key):
            shown = moves.find(state.entries, key)
            count = len(state.entries)
            return state, Outcome("read", (shown is not None, shown is not None, shown, count, count))
        case Pairs(pairs):
            filled, outcome = _update(config, State(), pairs)
            values = tuple(sorted(content for _, content in filled.entries))
            return state, Outcome("read", outcome.result or (values, tuple(sorted(filled.entries))))
        case Fresh():
            return state, Outcome("empty", (0, 0, 0))


def _lookup(state: State, key: str, *, counts_misses: bool) -> tuple[State, Outcome]:
    """`c[key]` and `c.get(key)`.   [LRU-05, LRU-06, LRU-07, LRU-08]"""
    content = moves.find(state.entries, key)
    if content is not None:
        entries = moves.touch(state.entries, key)
        return state._replace(entries=entries, hits=state.hits + 1, total=state.total + 1), Outcome(
            "hit", content
        )
    if counts_misses:
        return state._replace(total=state.total + 1), Outcome("miss")
    return state, Outcome("miss", Raised("KeyError"))


def _without(state: State, key: str) -> State:
    """The state after `key` has left the cache.   [LRU-22]"""
    pins = tuple([pin for pin in state.pins if pin != key])
    return state._replace(entries=moves.remove(state.entries, key), pins=pins)


def _pop(state: State, key: str, *, missing: Raised | None, gives: bool) -> tuple[State, Outcome]:
    """`c.pop(key)` and `del c[key]`.   [LRU-11, LRU-12]"""
    content = moves.find(state.entries, key)
    if content is None:
        return state, Outcome("miss", missing)
    kind = "removed_pinned" if key in state.pins else "removed"
    return _without(state, key), Outcome(kind, content if gives else None)


def _remove_oldest(state: State, remove_pinned: bool) -> tuple[State, str, tuple[str, Content] | None]:
    """The state without its least recent key; what happened; the entry.   [LRU-18, LRU-23, LRU-24, LRU-25]"""
    if not state.entries:
        return state, "empty", None
    for entry in state.entries:
        pinned = entry[0] in state.pins
        if remove_pinned or not pinned:
            return _without(state, entry[0]), "removed_pinned" if pinned else "removed", entry
    return state, "all_pinned", None


def _store(config: Config, state: State, key: str, content: Content) -> tuple[State, str]:
    """Evict, then store as the most recent.   [LRU-13, LRU-14, LRU-15, LRU-16, LRU-19, LRU-21]"""
    if content.nbytes > config.budget:
        return state, "too_large"
    old = moves.find(state.entries, key)
    kind = "stored" if old is None else "replaced_pinned" if key in state.pins else "replaced"
    if old is None or content.nbytes > old.nbytes:
        while moves.size(state.entries) + content.nbytes > config.budget:
            around_pin = state.entries[0][0] in state.pins if state.entries else False
            state, removal, _ = _remove_oldest(state, remove_pinned=False)
            if removal == "all_pinned":
                return state, "all_pinned"
            if old is not None:
                kind = "grown"
            elif kind != "evicted_around_pin":
                kind = "evicted_around_pin" if around_pin else "evicted"
    entries = (*moves.remove(state.entries, key), (key, content))
    return state._replace(entries=entries), kind


AS_NEW = ("as new",)
REFUSALS = {"too_large": TOO_LARGE, "all_pinned": ALL_PINNED}


def _set_default(config: Config, state: State, key: str, content: Content) -> tuple[State, Outcome]:
    """`c.setdefault(key, value)`: as `c[key]`, or as `put`.   [LRU-30]"""
    if moves.find(state.entries, key) is not None:
        after, outcome = _lookup(state, key, counts_misses=False)
        return after, outcome._replace(also=("as getitem",))
    after, kind = _store(config, state, key, content)
    return after, Outcome(kind, REFUSALS.get(kind, content), also=(f"as {kind}",))


def _update(config: Config, state: State, pairs: tuple[tuple[str, Content], ...]) -> tuple[State, Outcome]:
    """`c.update(pairs)`: as `put` of each, until one is refused.   [LRU-30]"""
    kinds: dict[str, None] = {}
    for key, content in pairs:
        state, kind = _store(config, state, key, content)
        kinds[f"as {kind}"] = None
        if kind in REFUSALS:
            return state, Outcome("updated", REFUSALS[kind], tuple(kinds))
    return state, Outcome("updated", also=tuple(kinds))


def _stat(state: State, delta: bool) -> tuple[State, Outcome]:
    """The counters, or what was added to them since the last report.   [LRU-27, LRU-28]"""
    if not delta:
        return state, Outcome("total", (state.hits, state.total))
    fresh = (state.hits - state.reported_hits, state.total - state.reported_total)
    return state._replace(reported_hits=state.hits, reported_total=state.total), Outcome("delta", fresh)


PROPERTIES: Mapping[str, Property] = {
    "within-budget": Property(
        "LRU-01", "state", lambda config, state: is_sound(config.budget, state.entries)
    ),
    "pins-are-cached": Property(
        "LRU-22", "state", lambda config, state: set(state.pins) <= set(moves.keys(state.entries))
    ),
    "eviction-ends": Property(
        "LRU-18",
        "step",
        lambda config, before, operation, outcome, after: (
            outcome.kind != "all_pinned" or set(moves.keys(after.entries)) == set(after.pins)
        ),
        frozenset({"put", "setitem", "put_if_fits", "popitem", "remove_oldest"}),
    ),
}
