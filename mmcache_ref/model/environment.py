"""What may happen to the pair, what stops it, and how large a search is.   [spec/05-drift.md]"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from .component import Content
from .pair import Item, Request


class Accident(NamedTuple):
    """What the environment does, in a sentence, and the protections under which it does no harm."""

    says: str
    protections: frozenset[str]


class Protection(NamedTuple):
    """The clause that asks for a rule, and the rule in a sentence."""

    clause: str
    says: str


def accident(says: str, *protections: str) -> Accident:
    return Accident(says, frozenset(protections))


ACCIDENTS: Mapping[str, Accident] = {
    "abort": accident("a request is taken out of the channel before P1 ingests it", "ingest-aborted"),
    "bypass": accident("a request reaches P1 with its data and without P0", "recorded-only"),
    "clear-both": accident("both sides are cleared, P0 first and P1 in a later step", "ordered-delivery"),
    "clear-p0": accident("P0 is cleared, P1 is not", "epoch"),
    "clear-p1": accident("P1 is cleared, P0 is not", "epoch"),
    "drop": accident("a message is lost on its way, and P0 is not told", "keep-data-until-sent"),
    "dry-run": accident("a request goes through P0 and the result is thrown away", "rollback"),
    "invalidate-race": accident(
        "P0 may handle a report between the check of a request and its update", "serialised-invalidation"
    ),
    "lost-report": accident("P0 is not told of a miss, and the client retries", "report-always"),
    "mixed-modality": accident("P0 updates modality by modality, P1 by position", "one-order"),
    "new-content": accident("a client gives one identity to two contents", "content-identity"),
    "oversize": accident("a request names more bytes than the budget", "keep-touched"),
    "reject": accident("a request is refused after its update in P0 and never sent", "rollback"),
    "reorder": accident("a message overtakes another", "ordered-delivery"),
    "restart-p1": accident("P1 starts again, empty, and the channel is lost", "epoch"),
    "second-engine": accident("P0 sends a request to another P1", "paired"),
    "second-front-end": accident("another P0 sends a request to the same P1", "paired"),
}

PROTECTIONS: Mapping[str, Protection] = {
    "content-identity": Protection("DR-10", "an identity stands for one content only"),
    "epoch": Protection("DR-15", "messages and reports carry the number of the clear they belong to"),
    "ingest-aborted": Protection("DR-22", "an aborted request is ingested by P1 all the same"),
    "keep-data-until-sent": Protection(
        "DR-24", "P0 keeps a message until it has arrived, and sends it again when it is lost"
    ),
    "keep-touched": Protection("DR-12", "what a request pushes out itself is kept until it is done"),
    "one-order": Protection("DR-16", "both sides update the items of a request by position"),
    "ordered-delivery": Protection(
        "DR-14", "messages and clears arrive in the order in which they were sent"
    ),
    "paired": Protection(
        "DR-21", "one P0 replicates to one P1; all others bring their data, and none is kept"
    ),
    "recorded-only": Protection("DR-17", "P1 stores only what P0 recorded"),
    "report-always": Protection("DR-19", "a retry waits until P0 has handled the miss"),
    "resend-all": Protection("DR-23", "P0 forgets every hash of a request as its retry begins"),
    "rollback": Protection("DR-13", "a refused request leaves P0 exactly as it was: P0 updates as it sends"),
    "serialised-invalidation": Protection(
        "DR-18", "nothing comes between the check of a request and its update"
    ),
}

DEFAULT_PROTECTIONS = frozenset(PROTECTIONS) - {"content-identity"}
"""What a protocol should have. Which content a client's own identity stands for is not in its power."""


def known_names(names: Iterable[str], known: Iterable[str], what: str) -> frozenset[str]:
    """The names as a set; an unknown one is a `ValueError` that lists the known ones."""
    chosen = frozenset(names)
    unknown = sorted(chosen - set(known))
    if unknown:
        raise ValueError(f"unknown {what}: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
    return chosen


def spelled_out(
    names: Iterable[str], known: Iterable[str], what: str, words: Mapping[str, Iterable[str]]
) -> frozenset[str]:
    """The names as a set, in which each of the words stands for others; an unknown one is a `ValueError` that
    lists the known ones and the words."""
    chosen = known_names(names, {*known, *words}, what)
    return frozenset(name for each in chosen for name in words.get(each, (each,)))


@dataclass(frozen=True)
class Config:
    """What the search tries.

    `budget` in bytes, of either side; `depth`: how many requests are under way at once; `clears`: the highest
    number a clear may take; `requests`: what clients ask for. A request that only an accident makes possible
    is left out while that accident is off (see `needs`).
    """

    budget: int
    requests: tuple[Request, ...]
    depth: int = 2
    clears: int = 1
    accidents: frozenset[str] = field(default=frozenset())
    protections: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        known_names(self.accidents, ACCIDENTS, "accident")
        known_names(self.protections, PROTECTIONS, "protection")

    def needs(self, request: Request) -> frozenset[str]:
        """The accidents without which no such request is made.

        `oversize`: its distinct items together exceed the budget. `mixed-modality`: it has several
        modalities. `new-content`: a key has another content than where `requests` names it first.
        """
        needed = set()
        if sum({item.key: item.content.nbytes for item in request}.values()) > self.budget:
            needed.add("oversize")
        if len({item.modality for item in request}) > 1:
            needed.add("mixed-modality")
        if any(self._meaning[item.key] != item.content for item in request):
            needed.add("new-content")
        return frozenset(needed)

    def _happens(self, accident: str, unless: str) -> bool:
        return accident in self.accidents and unless not in self.protections

    @cached_property
    def _meaning(self) -> dict[str, Content]:
        """The content of each key where it is named first."""
        meaning: dict[str, Content] = {}
        for request in self.requests:
            for item in request:
                meaning.setdefault(item.key, item.content)
        return meaning

    @cached_property
    def enabled(self) -> dict[Any, Any]:
        """The operations enabled in each shape of state, filled by a search as it goes."""
        return {}

    @cached_property
    def possible_requests(self) -> tuple[Request, ...]:
        """The requests that the accidents allow and no protection excludes."""
        allowed = set(self.accidents)
        if "content-identity" in self.protections:
            allowed.discard("new-content")
        return tuple([request for request in self.requests if self.needs(request) <= allowed])

    @cached_property
    def keep_touched(self) -> bool:
        """Either side keeps what a request pushes out itself.   [KR-13, KR-14]"""
        return "keep-touched" in self.protections

    @cached_property
    def grouped(self) -> bool:
        """P0 updates modality by modality.   [DR-16]"""
        return self._happens("mixed-modality", unless="one-order")

    @cached_property
    def ordered(self) -> bool:
        """What would overtake, a message or a clear, is held back.   [DR-14]"""
        return "ordered-delivery" in self.protections

    @cached_property
    def by_epoch(self) -> bool:
        """Both sides act on the numbers of clears.   [DR-15]"""
        return "epoch" in self.protections

    @cached_property
    def recorded_only(self) -> bool:
        """P1 stores only what P0 recorded.   [DR-17]"""
        return "recorded-only" in self.protections

    @cached_property
    def serialised(self) -> bool:
        """Nothing comes between check and update.   [DR-18]"""
        return "serialised-invalidation" in self.protections

    @cached_property
    def resend_all(self) -> bool:
        """A retry carries all its data.   [DR-09]"""
        return "resend-all" in self.protections

    @cached_property
    def rolls_back(self) -> bool:
        """A refused request leaves P0 as it was.   [DR-13]"""
        return "rollback" in self.protections

    @cached_property
    def reports_always(self) -> bool:
        """A retry waits until P0 has heard of the miss.   [DR-19]"""
        return "report-always" in self.protections

    @cached_property
    def ingests_aborted(self) -> bool:
        """P1 ingests a request that was aborted after it was sent.   [DR-22]"""
        return "ingest-aborted" in self.protections

    @cached_property
    def resends_lost(self) -> bool:
        """P0 keeps a message until it has arrived.   [DR-24]"""
        return "keep-data-until-sent" in self.protections

    @cached_property
    def paired(self) -> bool:
        """One P0 replicates to one P1.   [DR-21]"""
        return "paired" in self.protections


def request(*names: str, modality: Mapping[str, str] | None = None, supplied: bool = True) -> Request:
    """A request from names such as `a` (1 byte), `b:2` (2 bytes) or `a:2:7` (2 bytes of value 7)."""
    items = []
    for name in names:
        key, _, rest = name.partition(":")
        nbytes, _, fill = rest.partition(":")
        content = Content(int(nbytes or 1), int(fill or 0))
        items.append(Item(key, content, supplied, (modality or {}).get(key, "image")))
    return tuple(items)


PRESETS: Mapping[str, Config] = {
    "tiny": Config(
        budget=2,
        requests=(
            request("a"),
            request("b", "c"),
            request("c"),
            request("a", supplied=False),
            request("a:2:1"),
            request("b", "c", "a"),
            request("d:3"),
            request("c", "b", modality={"c": "video"}),
        ),
    ),
    "small": Config(
        budget=3,
        requests=(
            request("a"),
            request("b"),
            request("c:2"),
            request("d"),
            request("a", "b"),
            request("d", "a", "d"),
            request("c:2", "a"),
            request("b", "d"),
            request("b", supplied=False),
            request("a:2:1"),
            request("b", "c:2", "a"),
            request("e:4"),
            request("d", "a", "b", modality={"a": "video"}),
        ),
        depth=4,
        clears=2,
    ),
}


def configure(
    preset: str = "tiny",
    *,
    accidents: Iterable[str] = (),
    protections: Iterable[str] = (),
    depth: int | None = None,
    clears: int | None = None,
) -> Config:
    """A preset with accidents and protections by name, and perhaps another depth.

    The accidents may be `all`, among the protections may be `default`. An unknown name is a `ValueError` that
    lists the known ones.
    """
    known_names([preset], PRESETS, "preset")
    base = PRESETS[preset]
    return Config(
        budget=base.budget,
        requests=base.requests,
        depth=base.depth if depth is None else depth,
        clears=base.clears if clears is None else clears,
        accidents=spelled_out(accidents, ACCIDENTS, "accident", {"all": ACCIDENTS}),
        protections=spelled_out(protections, PROTECTIONS, "protection", {"default": DEFAULT_PROTECTIONS}),
    )
