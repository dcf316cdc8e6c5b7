"""The receiver of the key-replicated pair, alone.   [spec/04-key-replicated.md]"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import msgspec

from . import entries as moves
from .component import Aspect, Content, Missed, Op, Outcome, Rule, rule, several
from .entries import Entries, is_sound
from .explore import Property

NAME = "receiver"


class Feature(msgspec.Struct, frozen=True, order=True):
    """One feature of a request; without an `mm_hash` its key is its identifier.   [IT-10]"""

    key: str
    content: Content | None = None
    has_mm_hash: bool = True


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
    """Entries, least recent first."""

    entries: Entries = ()


class Touch(Op, frozen=True, tag="touch"):
    """`touch_receiver_cache_item(hash)`"""

    key: str


class Update(Op, frozen=True, tag="update"):
    """`get_and_update_item(item or None, hash)`"""

    key: str
    content: Content | None = None


class Features(Op, frozen=True, tag="features"):
    """`get_and_update_features(features)`"""

    features: tuple[Feature, ...]


class Clear(Op, frozen=True, tag="clear"):
    """`clear_cache()`"""


Operation = Touch | Update | Features | Clear


class Received(msgspec.Struct, frozen=True, tag_field="result", tag="received"):
    """What an update in P1 returned; `is_input` says that the caller got its own object back."""

    item: Content
    is_input: bool = False


class Ingested(msgspec.Struct, frozen=True, tag_field="result", tag="ingested"):
    """The data of each feature afterwards (None: missing), and the missing hashes that were raised."""

    items: tuple[Received | None, ...]
    missed: tuple[str, ...] = ()


UPDATING = {
    "stored": "KR-08",
    "evicted": "KR-08",
    "replaced": "KR-08",
    "too_large": "KR-09",
    "hit": "KR-10",
    "miss": "KR-11",
}
"""What decides one update, by kind."""

RULES: Mapping[tuple[str, str], Rule] = {
    ("touch", "hit"): rule("KR-12"),
    ("touch", "miss"): rule("KR-12"),
    **{("update", kind): rule(clause) for kind, clause in UPDATING.items()},
    **{("features", f"item {kind}"): rule(UPDATING[kind]) for kind in ("stored", "hit")},
    ("features", "ingested"): rule("IF-14"),
    ("features", "evicted"): rule("IF-13"),
    ("features", "by_identifier"): rule("IT-10", "IF-14"),
    ("features", "missed"): rule("IF-16", "IF-15"),
    ("features", "replaced"): rule("KR-08"),
    ("features", "too_large"): rule("KR-09"),
    ("features", "promised"): rule("KR-14"),
    ("clear", "cleared"): rule("IF-05"),
}
ASPECTS = {
    "order": Aspect(2),
    "bytes": Aspect(2, "LRU-01", is_culprit=False),
}


def initial(config: Config) -> State:
    """An empty cache."""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every operation of the alphabet with the keys, contents and requests of the configuration."""
    for key in config.keys:
        yield Touch(key)
        yield Update(key)
    for key, content in config.contents:
        yield Update(key, content)
    for request in config.requests:
        yield Features(request)
    yield Clear()


def bare(config: Config) -> Config:
    """The budget alone."""
    return Config(config.budget)


def view(state: State) -> tuple[object, ...]:
    """The entries."""
    return state.entries


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state."""
    return {"order": moves.keys(state.entries), "bytes": moves.size(state.entries)}


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API."""
    match operation:
        case Touch(key):
            hit = moves.find(state.entries, key) is not None
            return State(moves.touch(state.entries, key)), Outcome("hit" if hit else "miss")
        case Update(key, content):
            entries, outcome = _update(config, state.entries, key, content)
            return State(entries), outcome
        case Features(features):
            entries, outcome = _ingest(config, state.entries, features)
            return State(entries), outcome
        case Clear():
            return State(), Outcome("cleared")


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


def _ingest(config: Config, entries: Entries, features: tuple[Feature, ...]) -> tuple[Entries, Outcome]:
    """`get_and_update_features`.   [IF-13, IF-14, IF-15, IF-16, KR-14, KR-15]"""
    promised: dict[str, Content] = {}
    for feature in features:
        content = moves.find(entries, feature.key)
        if content is not None:
            promised[feature.key] = content
            entries = moves.touch(entries, feature.key)
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
        kinds.add(outcome.kind)
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
    order = ("promised", "too_large", "missed", "evicted", "replaced", "by_identifier", "ingested")
    is_usual = not kinds & {"promised", "too_large"}
    return entries, several((*order, *sorted(parts)), kinds | (parts if is_usual else set()), result)


def _preset(budget: int, *contents: tuple[str, int], requests: tuple[str, ...]) -> Config:
    """A configuration whose requests are written as words: a capital letter carries data, `-` after a key
    that has no `mm_hash`."""
    named = tuple((key, Content(nbytes, fill=index + 1)) for index, (key, nbytes) in enumerate(contents))
    first = dict(reversed(named))
    parsed: list[tuple[Feature, ...]] = [
        # The last is sent while it is cached, and the first pushes out what no touch moved.
        (Feature("c", first["c"]), Feature("a", dict(named)["a"])),
        # The same, found by its identifier; and one that decides in which order touches move keys.
        (Feature("c", first["c"]), Feature("b", has_mm_hash=False)),
        (Feature("a", first["a"]), Feature("c", Content(1, 9)), Feature("b")),
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
        *(("a", 2), ("b", 2), ("c", 3), ("d", 6), ("a", 6), ("b", 1), ("a", 1)),
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
