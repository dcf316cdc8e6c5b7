"""The byte-budgeted LRU.   [spec/02-lru.md]"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import msgspec

from . import entries as moves
from .component import Aspect, Content, Op, Outcome, Raised, Rule, rule
from .entries import Entries, is_sound
from .explore import Property

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


class Contains(Op, frozen=True, tag="contains"):
    """`key in c`"""

    key: str


class Length(Op, frozen=True, tag="len"):
    """`len(c)`"""


class GetItem(Op, frozen=True, tag="getitem"):
    """`c[key]`"""

    key: str


class Get(Op, frozen=True, tag="get"):
    """`c.get(key)`"""

    key: str


class Touch(Op, frozen=True, tag="touch"):
    """`c.touch(key)`"""

    key: str


class Pop(Op, frozen=True, tag="pop"):
    """`c.pop(key)`"""

    key: str


class Delete(Op, frozen=True, tag="del"):
    """`del c[key]`"""

    key: str


class Put(Op, frozen=True, tag="put"):
    """`c.put(key, value)`"""

    key: str
    content: Content


class SetItem(Op, frozen=True, tag="setitem"):
    """`c[key] = value`"""

    key: str
    content: Content


class PutIfFits(Op, frozen=True, tag="put_if_fits"):
    """`c.put_if_fits(key, value)`"""

    key: str
    content: Content


class Pin(Op, frozen=True, tag="pin"):
    """`c.pin(key)`"""

    key: str


class RemoveOldest(Op, frozen=True, tag="remove_oldest"):
    """`c.remove_oldest(remove_pinned=...)`"""

    remove_pinned: bool = False


class PopItem(Op, frozen=True, tag="popitem"):
    """`c.popitem(remove_pinned=...)`"""

    remove_pinned: bool = False


class Clear(Op, frozen=True, tag="clear"):
    """`c.clear()`"""


class Stat(Op, frozen=True, tag="stat"):
    """`c.stat(delta=...)`"""

    delta: bool = False


class HitRatio(Op, frozen=True, tag="hit_ratio"):
    """`c.stat().hit_ratio`"""


class Usage(Op, frozen=True, tag="usage"):
    """`(c.capacity, c.usage)`"""


Operation = (
    Contains
    | Length
    | GetItem
    | Get
    | Touch
    | Pop
    | Delete
    | Put
    | SetItem
    | PutIfFits
    | Pin
    | RemoveOldest
    | PopItem
    | Clear
    | Stat
    | HitRatio
    | Usage
)

ANY_ERROR = Raised("Exception")
ALL_PINNED = Raised("RuntimeError")
TOO_LARGE = Raised("ValueError", says="value too large")
STORING = {
    "stored": "LRU-13",
    "evicted": "LRU-13",
    "evicted_around_pin": "LRU-19",
    "replaced": "LRU-14",
    "replaced_pinned": "LRU-22",
    "grown": "LRU-15",
    "too_large": "LRU-16",
    "all_pinned": "LRU-21",
}
RULES: Mapping[tuple[str, str], Rule] = {
    ("contains", "hit"): rule("LRU-04"),
    ("contains", "miss"): rule("LRU-04"),
    ("len", "counted"): rule("LRU-04"),
    ("getitem", "hit"): rule("LRU-05"),
    ("getitem", "miss"): rule("LRU-06"),
    ("get", "hit"): rule("LRU-07"),
    ("get", "miss"): rule("LRU-08"),
    ("touch", "hit"): rule("LRU-09"),
    ("touch", "miss"): rule("LRU-10"),
    ("pop", "removed"): rule("LRU-11"),
    ("pop", "removed_pinned"): rule("LRU-11", "LRU-22"),
    ("pop", "miss"): rule("LRU-11"),
    ("del", "removed"): rule("LRU-12"),
    ("del", "removed_pinned"): rule("LRU-12", "LRU-22"),
    ("del", "miss"): rule("LRU-12"),
    **{("put", kind): rule(clause) for kind, clause in STORING.items()},
    **{("setitem", kind): rule(clause) for kind, clause in STORING.items()},
    **{("put_if_fits", kind): rule("LRU-17", clause) for kind, clause in STORING.items()},
    ("put_if_fits", "too_large"): rule("LRU-17"),
    ("put_if_fits", "as put"): rule("LRU-21"),
    ("pin", "pinned"): rule("LRU-19"),
    ("pin", "miss"): rule("LRU-20"),
    ("remove_oldest", "removed"): rule("LRU-23"),
    ("remove_oldest", "removed_pinned"): rule("LRU-23", "LRU-22"),
    ("remove_oldest", "empty"): rule("LRU-23"),
    ("remove_oldest", "all_pinned"): rule("LRU-21"),
    ("popitem", "removed"): rule("LRU-24"),
    ("popitem", "removed_pinned"): rule("LRU-24", "LRU-22"),
    ("popitem", "empty"): rule("LRU-25"),
    ("popitem", "all_pinned"): rule("LRU-21"),
    ("clear", "cleared"): rule("LRU-26"),
    ("stat", "total"): rule("LRU-27"),
    ("stat", "delta"): rule("LRU-28"),
    ("hit_ratio", "read"): rule("IT-11"),
    ("usage", "read"): rule("LRU-03"),
}

ASPECTS = {
    "order": Aspect(2),
    "data": Aspect(2, "LRU-02"),
    "views": Aspect(2, "LRU-29"),
    "pins": Aspect(2),
    "hits": Aspect(1),
    "total": Aspect(1),
    "length": Aspect(1),
    "bytes": Aspect(1, "LRU-01"),
}


def initial(config: Config) -> State:
    """An empty cache."""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with every key and size of the configuration."""
    # Lookups first, so that the counters that are reported and cleared next are not zero.
    for key in config.keys:
        yield Get(key)
    yield Stat()
    yield HitRatio()
    yield Stat(delta=True)
    yield Stat(delta=True)
    yield Clear()
    yield Stat(delta=True)
    yield Length()
    for key in config.keys:
        yield Contains(key)
        yield GetItem(key)
        yield Touch(key)
        yield Pop(key)
        yield Delete(key)
        yield Pin(key)
        for nbytes in config.sizes:
            content = Content(nbytes, fill=len(state.entries) + 1)
            yield Put(key, content)
            yield SetItem(key, content)
            yield PutIfFits(key, content)
    for remove_pinned in (False, True):
        yield RemoveOldest(remove_pinned)
        yield PopItem(remove_pinned)
    yield Usage()
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
        case Get(key):
            return _lookup(state, key, counts_misses=True)
        case Touch(key):
            touched = moves.touch(state.entries, key)
            return state._replace(entries=touched), Outcome("hit" if moves.find(touched, key) else "miss")
        case Pop(key):
            return _pop(state, key, missing=None, gives=True)
        case Delete(key):
            return _pop(state, key, missing=Raised("KeyError"), gives=False)
        case Put(key, content) | SetItem(key, content):
            after, kind = _store(config, state, key, content)
            return after, Outcome(kind, {"too_large": TOO_LARGE, "all_pinned": ALL_PINNED}.get(kind))
        case PutIfFits(key, content):
            after, kind = _store(config, state, key, content)
            if kind == "all_pinned":
                return after, Outcome(kind, ALL_PINNED, also=("as put",))
            return after, Outcome(kind, kind != "too_large")
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
            return state, Outcome("read", (config.budget, usage))


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
