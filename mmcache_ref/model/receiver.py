"""The receiver of the key-replicated pair, alone.   [spec/04-key-replicated.md]"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, NamedTuple

import msgspec

from . import entries as moves
from .component import Content, Missed, Outcome, Raised, several
from .entries import Entries, is_sound
from .explore import Property
from .receiver_alphabet import (
    Clear,
    Feature,
    Features,
    Fresh,
    Ingested,
    MissError,
    Operation,
    Received,
    Touch,
    Update,
    UpdateAll,
    plainer,
)
from .receiver_rules import ASPECTS, ORDER, RARE, RULES

__all__ = [
    "ASPECTS",
    "NAME",
    "PRESETS",
    "PROPERTIES",
    "RULES",
    "Clear",
    "Config",
    "Feature",
    "Features",
    "Fresh",
    "Ingested",
    "MissError",
    "Operation",
    "Received",
    "State",
    "Touch",
    "Update",
    "UpdateAll",
    "bare",
    "initial",
    "observe",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "receiver"


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`budget` in bytes; the `contents` each key may have; the `requests` that arrive."""

    budget: Annotated[int, msgspec.Meta(ge=0)]
    contents: tuple[tuple[str, Content], ...] = ()
    requests: tuple[tuple[Feature, ...], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct keys, in order."""
        return tuple(dict.fromkeys(key for key, _ in self.contents))


class State(NamedTuple):
    """Entries, least recent first; keys that a request was promised, and that are not cached since."""

    entries: Entries = ()
    lapsed: tuple[str, ...] = ()


def initial(config: Config) -> State:
    """An empty cache.   [IF-19]"""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with the keys, contents and requests of the configuration."""
    for key in config.keys:
        yield Touch(key)
        yield Update(key)
    yield Fresh(config.keys)
    yield MissError(())
    yield MissError(("hash-1", "hash-2", "hash-1"))
    for key, content in config.contents:
        yield Update(key, content)
    if len(config.contents) > 1:
        (first, one), (second, other) = config.contents[:2]
        yield Touch(first, one)
        yield UpdateAll((one, other, one), (first, second, first))
        yield UpdateAll((one, None), (first, second))
        yield UpdateAll((one, other), (first,))
    if len(config.contents) > 3:
        yield UpdateAll((config.contents[3][1],), (config.contents[3][0],))
    for request in config.requests:
        yield Features(request)
    yield Clear()


def bare(config: Config) -> Config:
    """The budget alone."""
    return Config(config.budget)


def view(state: State) -> tuple[object, ...]:
    """Entries and lapsed promises."""
    return state.entries, state.lapsed


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state."""
    return {
        "budget": config.budget,
        "order": moves.keys(state.entries),
        "bytes": moves.size(state.entries),
        "values": tuple(sorted(state.entries)),
    }


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API."""
    match operation:
        case Touch(key, _):
            hit = moves.find(state.entries, key) is not None
            touched = state._replace(entries=moves.touch(state.entries, key))
            return touched, Outcome("hit" if hit else "miss")
        case Update(key, content):
            entries, outcome = _update(config, state.entries, key, content)
            return _after(entries, state.lapsed), _told_apart(state.lapsed, key, outcome)
        case UpdateAll(contents, hashes):
            return _update_all(config, state, contents, hashes)
        case Features(features):
            return _ingest(config, state, features)
        case Clear():
            return State(lapsed=state.lapsed), Outcome("cleared")
        case Fresh(hashes):
            return state, Outcome("empty", tuple([False for _ in hashes]))
        case MissError(hashes):
            return state, Outcome("made", Missed(hashes))


def _after(entries: Entries, lapsed: Iterable[str]) -> State:
    """The state with these entries: a key that is cached has no promise that lapsed."""
    cached = moves.keys(entries)
    return State(entries, tuple(sorted({key for key in lapsed if key not in cached})))


def _told_apart(lapsed: Collection[str], key: str, outcome: Outcome) -> Outcome:
    """A miss of a key whose promise has lapsed is a kind of its own.   [KR-15]"""
    return outcome._replace(kind="lapsed") if outcome.kind == "miss" and key in lapsed else outcome


def _update_all(
    config: Config, state: State, contents: tuple[Content | None, ...], hashes: tuple[str, ...]
) -> tuple[State, Outcome]:
    """`get_and_update`: the first miss ends it.   [IF-01, IF-02]"""
    if len(contents) != len(hashes):
        return state, Outcome("unequal", Raised("AssertionError"))
    kinds: set[str] = set()
    results: list[Received] = []
    missed: Missed | None = None
    for key, content in zip(hashes, contents, strict=True):
        entries, outcome = _update(config, state.entries, key, content)
        outcome = _told_apart(state.lapsed, key, outcome)
        state = _after(entries, state.lapsed)
        kinds.add(outcome.kind)
        if isinstance(outcome.result, Missed):
            missed = outcome.result
            break
        results.append(outcome.result)
    names = {each if each in RARE else f"item {each}" for each in kinds} | {"updated"}
    result = tuple(results) if missed is None else missed
    return state, several((*RARE, "updated", *sorted(names - {*RARE, "updated"})), names, result)


def _update(config: Config, entries: Entries, key: str, content: Content | None) -> tuple[Entries, Outcome]:
    """`get_and_update_item`.   [KR-08, KR-09, KR-10, KR-11]"""
    cached = moves.find(entries, key)
    if content is not None:
        rest = moves.remove(entries, key)
        after = moves.put(rest, config.budget, key, content)
        if after is rest:
            kind = "too_large"
        elif cached is not None:
            kind = "replaced"
        else:
            kind = "stored" if len(after) > len(rest) else "evicted"
        return after, Outcome(kind, Received(content, is_input=True))
    if cached is None:
        return entries, Outcome("miss", Missed((key,)))
    return moves.touch(entries, key), Outcome("hit", Received(cached))


def _ingest(config: Config, state: State, features: tuple[Feature, ...]) -> tuple[State, Outcome]:
    """`get_and_update_features`.   [IF-13, IF-14, IF-15, IF-16, KR-14, KR-15]"""
    entries = state.entries
    promised: dict[str, Content] = {}
    for feature in features:
        content = moves.find(entries, feature.key)
        if content is not None:
            promised[feature.key] = content
            entries = moves.touch(entries, feature.key)
    lapsed = {*state.lapsed, *promised}
    any_cached = bool(promised)
    kinds = set()
    items: list[Received | None] = []
    for feature in features:
        after, outcome = _update(config, entries, feature.key, feature.content)
        if feature.content is not None:
            promised.pop(feature.key, None)
        elif outcome.kind == "miss" and feature.key in promised:
            content = promised[feature.key]
            after, outcome = (
                moves.put(entries, config.budget, feature.key, content),
                Outcome("promised", Received(content)),
            )
        entries = after
        # A request may ask again for what it replaced by something too large: that promise lapsed, too.
        kinds.add(_told_apart(lapsed, feature.key, outcome).kind)
        items.append(outcome.result if isinstance(outcome.result, Received) else None)
    missed = tuple([feature.key for feature, item in zip(features, items, strict=True) if item is None])
    result = Ingested(tuple(items), missed)
    parts = {f"item {kind}" for kind in kinds & {"stored", "hit"}}
    if not all(feature.has_mm_hash for feature in features):
        kinds.add("by_identifier")
    if not any_cached:
        # Which key is evicted depends on the touches only where one of them moved something.
        kinds.discard("evicted")
    kinds.add("missed" if missed else "ingested")
    kinds.discard("miss")
    is_usual = not kinds & {"promised", "too_large", "lapsed"}
    outcome = several((*ORDER, *sorted(parts)), (kinds & {*ORDER}) | (parts if is_usual else set()), result)
    return _after(entries, lapsed), outcome


def _preset(budget: int, *contents: tuple[str, int], requests: tuple[str, ...]) -> Config:
    """A configuration whose requests are written as words: a capital letter carries data, `-` after a key
    that has no `mm_hash`."""
    named = tuple((key, Content(nbytes, fill=index + 1)) for index, (key, nbytes) in enumerate(contents))
    first = dict(reversed(named))
    parsed: list[tuple[Feature, ...]] = [
        # The last is sent while it is cached, and the first pushes out what no touch moved.
        (Feature("c", first["c"]), Feature("a", dict(named)["a"])),
        # The same, with data that is too large: without its touch it would be pushed out, and not b.
        (Feature("c", first["c"]), Feature("a", Content(budget + 1, 8))),
        # The same, found by its identifier; and one that decides in which order touches move keys.
        (Feature("c", first["c"]), Feature("b", has_mm_hash=False)),
        (Feature("a", first["a"]), Feature("c", Content(1, 9)), Feature("b")),
        # What was promised is replaced by what is too large, and then asked for.
        (Feature("a", Content(budget + 1, 8)), Feature("a")),
        (Feature("b", Content(budget + 1, 8)), Feature("c", first["c"]), Feature("b")),
    ]
    for word in requests:
        features: list[Feature] = []
        for letter in word:
            if letter == "-":
                features[-1] = msgspec.structs.replace(features[-1], has_mm_hash=False)
            else:
                features.append(Feature(letter.lower(), first[letter.lower()] if letter.isupper() else None))
        parsed.append(tuple(features))
    return Config(budget, named, tuple(parsed))


PRESETS = {
    "tiny": _preset(
        5,
        *(("a", 2), ("b", 2), ("c", 3), ("d", 6), ("a", 6), ("b", 2), ("a", 1)),
        requests=("", "aa", "Aa", "AB", "Ab", "Cab", "a-B-", "BcA", "bCb", "AbCac", "Da", "dDA"),
    ),
    "small": _preset(
        6,
        *(("a", 2), ("b", 2), ("c", 3), ("d", 1), ("e", 7), ("a", 1), ("b", 6)),
        requests=("", "aa", "Aa", "ABC", "AbCdE", "Cab", "a-B-c", "BcAd", "bCbD", "dCba", "AbCac"),
    ),
}


def _serves_what_is_sent(
    config: Config, before: State, operation: Features, outcome: Outcome, after: State
) -> bool:
    """Data that comes with a feature is what is served for it.   [KR-08, KR-09]"""
    served = outcome.result.items
    return all(
        feature.content is None or (item is not None and item.item == feature.content)
        for feature, item in zip(operation.features, served, strict=True)
    )


def _keeps_what_it_had(
    config: Config, before: State, operation: Features, outcome: Outcome, after: State
) -> bool:
    """A key that was cached, and for which no data comes, is not missed.   [IF-16, KR-14]"""
    sent = {feature.key for feature in operation.features if feature.content is not None}
    return not set(outcome.result.missed) & set(moves.keys(before.entries)) - sent


PROPERTIES: Mapping[str, Property] = {
    "within-budget": Property(
        "LRU-01", "state", lambda config, state: is_sound(config.budget, state.entries)
    ),
    "serves-what-is-sent": Property("KR-08", "step", _serves_what_is_sent, frozenset({"features"})),
    "keeps-what-it-had": Property("KR-14", "step", _keeps_what_it_had, frozenset({"features"})),
}
