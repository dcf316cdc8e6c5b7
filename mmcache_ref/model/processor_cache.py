"""What the caches of P0 have in common: one alphabet, one step function.   [spec/00-interface.md]

`processor_only.py` and `sender.py` are this model with their own payload rule and clauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, NamedTuple

import msgspec

from . import entries as moves
from .component import Content, Outcome, Raised, Updated, composed, several
from .entries import Entries, is_sound
from .explore import Property
from .processor_cache_alphabet import (
    Clear,
    Close,
    Defaults,
    Fresh,
    Invalidate,
    IsCached,
    Item,
    Merge,
    Operation,
    Release,
    Stats,
    TooLarge,
    Touch,
    Update,
    UpdateAll,
    Validate,
    plainer,
)
from .processor_cache_rules import aspects, culprits, rules

__all__ = [
    "PRESETS",
    "Clear",
    "Close",
    "Config",
    "Defaults",
    "Fresh",
    "Invalidate",
    "IsCached",
    "Item",
    "Kind",
    "Merge",
    "Operation",
    "Release",
    "State",
    "Stats",
    "TooLarge",
    "Touch",
    "Update",
    "UpdateAll",
    "Validate",
    "aspects",
    "bare",
    "culprits",
    "observe",
    "operations",
    "plainer",
    "properties",
    "rules",
    "step",
    "view",
]


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`budget` in bytes; the `contents` each key may have; the `requests` that the merge step is given."""

    budget: Annotated[int, msgspec.Meta(ge=0)]
    contents: tuple[tuple[str, Content], ...] = ()
    requests: tuple[tuple[Item, ...], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct keys, in order."""
        return tuple(dict.fromkeys(key for key, _ in self.contents))


class State(NamedTuple):
    """Entries least recent first; what the touches of this request promised, by key; keys whose promise has
    lapsed and that are not cached; whether touches are being made; counters, and counters last reported."""

    entries: Entries = ()
    promised: Entries = ()
    lapsed: tuple[str, ...] = ()
    is_touching: bool = False
    hits: int = 0
    total: int = 0
    reported_hits: int = 0
    reported_total: int = 0


class Kind(NamedTuple):
    """What distinguishes the caches of P0: does an entry keep the payload, does `invalidate` drop it."""

    keeps_payload: bool
    drops_on_invalidate: bool


RARE: Final = ("lapsed", "asserted", "promised", "too_large")
"""Kinds of an update that name an operation of several."""


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with the keys, contents and requests of the configuration."""
    # Lookups first, so that the counters that are reported and cleared next are not zero.
    for key in config.keys:
        yield Update(key)
    yield Stats()
    yield Fresh(config.keys)
    yield Close()
    yield Defaults()
    yield Stats(delta=True)
    yield Stats(delta=True)
    yield Clear()
    yield IsCached(config.keys)
    for key in config.keys:
        yield Touch(key)
        yield Invalidate(key)
        yield Validate(key, Content(1, 1))
    for key, content in config.contents:
        yield Update(key, content)
    if len(config.contents) > 3:
        (first, one), (second, other) = config.contents[:2]
        yield UpdateAll((one, other, one), (first, second, first))
        yield UpdateAll((one, None), (first, first))
        yield UpdateAll((one, None), (first, second))
        yield UpdateAll((one, other), (first,))
        yield UpdateAll((one,), (first, second))
        yield UpdateAll((config.contents[3][1],), (config.contents[3][0],))
    for request in config.requests:
        yield Merge(request)
    for request in config.requests:
        if len(request) == 2:
            yield Merge(request, stale=(request[-1].key,))
            yield Merge(request, withheld="item")
            yield Merge(request, withheld="updates")
    yield TooLarge(0)
    yield TooLarge(2)
    yield Release()


def bare(config: Config) -> Config:
    """The budget alone."""
    return Config(config.budget)


def view(state: State) -> tuple[object, ...]:
    """Entries and promises; the counters do not decide what happens next."""
    return state.entries, state.promised, state.lapsed, state.is_touching


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state."""
    return {
        "order": moves.keys(state.entries),
        "hits": state.hits,
        "total": state.total,
        "bytes": moves.size(state.entries),
        "budget": config.budget,
        "values": tuple(sorted(state.entries)),
    }


def step(kind: Kind, config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API, or one merge step."""
    match operation:
        case IsCached(hashes):
            cached = tuple([moves.find(state.entries, key) is not None for key in hashes])
            return state, Outcome("checked", cached)
        case Touch(key):
            hit = moves.find(state.entries, key) is not None
            return _touch(state, key), Outcome("hit" if hit else "miss")
        case Release():
            return _end_touches(state), Outcome("released")
        case Update(key, content):
            return _update(kind, config, state, key, content)
        case UpdateAll(contents, hashes):
            return _update_all(kind, config, state, contents, hashes)
        case Invalidate(key):
            if not kind.drops_on_invalidate:
                return state, Outcome("ignored")
            hit = moves.find(state.entries, key) is not None
            after = _lapse(state._replace(entries=moves.remove(state.entries, key)), (key,))
            return after, Outcome("dropped" if hit else "miss")
        case Merge():
            return _merge(kind, config, state, operation)
        case Validate() | Close():
            return state, Outcome("ignored")
        case Defaults():
            return state, Outcome("ignored", ())
        case Fresh(hashes):
            return state, Outcome("empty", (0, 0, *[False for _ in hashes]))
        case TooLarge(items):
            return state, Outcome("warned", 0, also=("item too_large",) if items else ())
        case Clear():
            empty = _lapse(state._replace(entries=()), moves.keys(state.promised))
            return State(lapsed=empty.lapsed), Outcome("cleared")
        case Stats(delta):
            if not delta:
                return state, Outcome("total", (state.hits, state.total))
            fresh = (state.hits - state.reported_hits, state.total - state.reported_total)
            return state._replace(reported_hits=state.hits, reported_total=state.total), Outcome(
                "delta", fresh
            )


def _lapse(state: State, keys: tuple[str, ...]) -> State:
    """These keys are promised no longer.   [PO-08, KR-15]"""
    cached = moves.keys(state.entries)
    gone = [key for key, _ in state.promised if key in keys and key not in cached]
    promised = tuple([entry for entry in state.promised if entry[0] not in keys])
    return state._replace(promised=promised, lapsed=tuple(sorted({*state.lapsed, *gone})))


def _end_touches(state: State) -> State:
    """Nothing is promised any more.   [PO-08, KR-15]"""
    return _lapse(state, moves.keys(state.promised))._replace(is_touching=False)


def _touch(state: State, key: str) -> State:
    """The key as the most recent, and promised until the touches end.   [IF-07, PO-07, KR-13]"""
    if not state.is_touching:
        state = _end_touches(state)._replace(is_touching=True)
    content = moves.find(state.entries, key)
    if content is None:
        return state
    promised = tuple(sorted((*moves.remove(state.promised, key), (key, content))))
    return state._replace(entries=moves.touch(state.entries, key), promised=promised)


def _update(
    kind: Kind, config: Config, state: State, key: str, content: Content | None
) -> tuple[State, Outcome]:
    """`get_and_update_item`.   [PO-01, PO-02, PO-03, PO-04, KR-02, KR-03, KR-04, KR-05]"""
    state = state._replace(is_touching=False)
    cached = moves.find(state.entries, key)
    if cached is not None:
        state = state._replace(
            entries=moves.touch(state.entries, key), hits=state.hits + 1, total=state.total + 1
        )
        return state, Outcome("hit", Updated(cached if kind.keeps_payload else None, cached))
    if content is None:
        return _update_promised(kind, config, state, key)
    entries = moves.put(state.entries, config.budget, key, content)
    if entries is state.entries:
        what = "too_large"
    else:
        what = "stored" if len(entries) > len(state.entries) else "evicted"
    after = _stored(state._replace(entries=entries, total=state.total + 1), key)
    return after, Outcome(what, Updated(content, content, is_input=True))


def _stored(state: State, key: str) -> State:
    """The key was updated with data: its promise ends, and if it is cached now it has none that lapsed."""
    state = _lapse(state, (key,))
    if moves.find(state.entries, key) is None:
        return state
    return state._replace(lapsed=tuple([each for each in state.lapsed if each != key]))


def _update_promised(kind: Kind, config: Config, state: State, key: str) -> tuple[State, Outcome]:
    """An update without data of a key that is not cached.   [PO-03, PO-07, KR-04, KR-13]"""
    promise = moves.find(state.promised, key)
    if promise is None:
        what = "lapsed" if key in state.lapsed else "asserted"
        return state._replace(total=state.total + 1), Outcome(what, Raised("AssertionError", says=key))
    entries = moves.put(state.entries, config.budget, key, promise)
    after = state._replace(entries=entries, hits=state.hits + 1, total=state.total + 1)
    return after, Outcome("promised", Updated(promise if kind.keeps_payload else None, promise))


def _update_all(
    kind: Kind,
    config: Config,
    state: State,
    contents: tuple[Content | None, ...],
    hashes: tuple[str, ...],
) -> tuple[State, Outcome]:
    """`get_and_update`.   [IF-01, IF-02]"""
    if len(contents) != len(hashes):
        return state, Outcome("unequal", Raised("AssertionError"))
    kinds = set()
    results = []
    for key, content in zip(hashes, contents, strict=True):
        state, outcome = _update(kind, config, state, key, content)
        kinds.add(outcome.kind)
        if not isinstance(outcome.result, Updated):
            return state, composed(RARE, kinds, "updated", outcome.result)
        results.append(outcome.result)
    return state, composed(RARE, kinds, "updated", tuple(results))


def by_modality(request: tuple[Item, ...]) -> list[tuple[int, Item]]:
    """The items in the order of the merge step, each with its place in its modality.   [IF-11]"""
    groups: dict[str, list[Item]] = {}
    for item in request:
        groups.setdefault(item.modality, []).append(item)
    return [(index, item) for group in groups.values() for index, item in enumerate(group)]


def _merge(kind: Kind, config: Config, state: State, operation: Merge) -> tuple[State, Outcome]:
    """Check, touch all, update each, end the touches, also when one fails.   [IF-10, IF-11, IF-12, IF-18]"""
    ordered = by_modality(operation.request)
    is_cached = {item.key: moves.find(state.entries, item.key) is not None for _, item in ordered}
    is_cached |= dict.fromkeys(operation.stale, True)
    if operation.withheld and not all(is_cached[item.key] for _, item in ordered):
        return state, Outcome("unsupplied", Raised("Exception"))
    for _, item in ordered:
        state = _touch(state, item.key)
    kinds = set()
    results = []
    for index, item in ordered:
        data = None if is_cached[item.key] else item.content
        state, outcome = _update(kind, config, state, item.key, data)
        kinds.add(outcome.kind)
        if not isinstance(outcome.result, Updated):
            rare = [each for each in RARE if each in kinds]
            return _end_touches(state), several(rare, rare, outcome.result)
        results.append(msgspec.structs.replace(outcome.result, index=index))
    # Which key is evicted depends on the touches only where one of them moved something.
    usual = "evicting" if "evicted" in kinds and any(is_cached.values()) else "merged"
    return _end_touches(state), composed(RARE, kinds, usual, tuple(results))


def _preset(budget: int, *contents: tuple[str, int], requests: tuple[str, ...]) -> Config:
    """A configuration whose requests are written as words of keys; a capital letter is a video."""
    named = tuple((key, Content(nbytes, fill=index + 1)) for index, (key, nbytes) in enumerate(contents))
    first = dict(reversed(named))
    return Config(
        budget,
        named,
        tuple(
            tuple(
                Item(letter.lower(), first[letter.lower()], "video" if letter.isupper() else "image")
                for letter in word
            )
            for word in requests
        ),
    )


PRESETS = {
    "tiny": _preset(
        5,
        *(("a", 2), ("b", 2), ("c", 3), ("d", 6), ("a", 1)),
        requests=("", "aa", "ab", "ca", "cB", "cab", "aBc", "bcb", "da"),
    ),
    "small": _preset(
        6,
        *(("a", 2), ("b", 2), ("c", 3), ("d", 1), ("e", 7), ("a", 1), ("b", 6)),
        requests=("", "aa", "abc", "dab", "cAbD", "bcdb", "dcba", "ea"),
    ),
}


def _keeps_others_promises(
    config: Config, before: State, operation: Operation, outcome: Outcome, after: State
) -> bool:
    """What a touch promised can be updated without data while the touches last.   [PO-07, KR-13]"""
    key = getattr(operation, "key", None)
    asks = isinstance(operation, Update) and operation.content is None
    return not (asks and outcome.kind == "asserted" and moves.find(before.promised, str(key)) is not None)


PROPERTIES: Mapping[str, Property] = {
    "within-budget": Property(
        "LRU-01", "state", lambda config, state: is_sound(config.budget, state.entries)
    ),
}


def properties(promise_clause: str) -> Mapping[str, Property]:
    """What holds in every state and step of a cache of P0."""
    keeps = Property(promise_clause, "step", _keeps_others_promises, frozenset({"update"}))
    return {**PROPERTIES, "keeps-promises": keeps}
