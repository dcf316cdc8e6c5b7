"""The two sides of a key-replicated pair, and what one request does to each.   [spec/04-key-replicated.md]

A request is a tuple of items in prompt order. P0 turns it into one message, P1 ingests the message.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from . import entries as moves
from .component import Content, Missed, Outcome, Raised
from .entries import Entries

RARE = dict.fromkeys(("asserted", "invalidated", "kept", "too-large", "missed"))  # in order of precedence
MEMO = 1 << 17  # remembered calls of a side's move; a search makes the same ones from many states


class Item(NamedTuple):
    """One item of a request: its identity, its content, and whether the client supplies the data."""

    key: str
    content: Content
    supplied: bool = True
    modality: str = "image"


Request = tuple[Item, ...]


class Feature(NamedTuple):
    """An item on its way to P1: with its data (`sent`), or as a claim that P1 has what P0 accounts for."""

    item: Item
    sent: bool
    accounted: Content


class Message(NamedTuple):
    """A request on its way: its features in prompt order, the number of the clear it was sent under, and
    whether it went through P0."""

    features: tuple[Feature, ...]
    number: int = 0
    recorded: bool = True

    @property
    def request(self) -> Request:
        """The items as the client asked for them, with all their data."""
        return tuple([feature.item for feature in self.features])


class Report(NamedTuple):
    """A miss on its way back: the request, the missing hashes, P1's number, the number it was sent under."""

    request: Request
    missing: tuple[str, ...]
    number: int = 0
    sent_under: int = 0


class Retry(NamedTuple):
    """A request that the client will send again; `told` when P0 heard of the miss."""

    request: Request
    told: bool = True


class Checked(NamedTuple):
    """A request between its check and its update, with what the check said for each item."""

    request: Request
    cached: tuple[bool, ...]


class State(NamedTuple):
    """Both sides and everything between them.

    Entries are (key, content), least recent first. P0 keeps no payload: its content stands for the size and
    the prompt updates it keeps. `clearing` is the number of the clear that P1 has yet to hear of, or 0.
    The seconds are what another P0 and another P1 hold.
    """

    sender: Entries = ()
    receiver: Entries = ()
    channel: tuple[Message, ...] = ()
    reports: tuple[Report, ...] = ()
    retries: tuple[Retry, ...] = ()
    checked: Checked | None = None
    p0_number: int = 0
    p1_number: int = 0
    clearing: int = 0
    second_sender: Entries = ()
    second_receiver: Entries = ()


class Merged(NamedTuple):
    """What the merge step left in P0 and made: features in prompt order; None after an assertion."""

    sender: Entries
    features: tuple[Feature, ...] | None
    outcome: Outcome


def check(sender: Entries, request: Request) -> tuple[bool, ...]:
    """`is_cached` for every hash, in order.   [IF-06]"""
    cached = moves.keys(sender)
    return tuple([item.key in cached for item in request])


def update_order(request: Request, grouped: bool) -> list[int]:
    """The places of the items in the order of P0's updates: by modality when `grouped`.   [IF-11, DR-16]"""
    places = list(range(len(request)))
    return sorted(places, key=lambda place: request[place].modality) if grouped else places


@lru_cache(MEMO)
def merge(
    budget: int,
    keep_touched: bool,
    grouped: bool,
    sender: Entries,
    request: Request,
    cached: tuple[bool, ...],
) -> Merged:
    """The merge step.   [IF-10, IF-11, IF-12, KR-02, KR-03, KR-04, KR-05, KR-13, KR-15]

    Every hash is touched, then each item updated, with data for those that were missing at the check. The
    outcome's result is, for each item in prompt order, the content that is sent or None; or the assertion,
    after which what was recorded before stays.
    """
    order = update_order(request, grouped)
    entries = sender
    for place in order:
        entries = moves.touch(entries, request[place].key)
    kept = dict(entries) if keep_touched else {}
    features: dict[int, Feature] = {}
    kinds = set()
    for place in order:
        item = request[place]._replace(supplied=True)
        key = item.key
        known = moves.find(entries, key)
        if known is not None:
            entries = moves.touch(entries, key)
            features[place] = Feature(item, False, known)
            kinds.add("claimed")
        elif not cached[place]:
            entries = moves.put(entries, budget, key, item.content)
            features[place] = Feature(item, True, item.content)
            kinds.add("too-large" if item.content.nbytes > budget else "sent")
        elif key in kept:
            entries = moves.put(entries, budget, key, kept[key])
            features[place] = Feature(item, False, kept[key])
            kinds.add("kept")
        else:
            kind = "invalidated" if moves.find(sender, key) is None else "asserted"
            kinds.add(kind)
            return Merged(entries, None, _outcome(kinds, Raised("AssertionError", says=key)))
    in_order = tuple([features[place] for place in range(len(request))])
    result = tuple([feature.item.content if feature.sent else None for feature in in_order])
    return Merged(entries, in_order, _outcome(kinds, result))


@lru_cache(MEMO)
def ingest(
    budget: int, keep_touched: bool, receiver: Entries, features: tuple[Feature, ...]
) -> tuple[Entries, Outcome]:
    """P1 takes a message.   [IF-13, IF-14, IF-15, IF-16, KR-08, KR-09, KR-10, KR-11, KR-14, KR-15]

    `get_and_update_features`: every key is touched, then each updated. The result is the content served for
    each feature, or `Missed` with every missing hash; what came with its data is ingested either way.
    """
    entries = receiver
    for feature in features:
        entries = moves.touch(entries, feature.item.key)
    kept = dict(entries) if keep_touched else {}
    served: list[Content] = []
    missing: list[str] = []
    kinds = set()
    for item, sent, _ in features:
        key = item.key
        known = moves.find(entries, key)
        if sent:
            entries = moves.put(moves.remove(entries, key), budget, key, item.content)
            kept.pop(key, None)
            served.append(item.content)
            kinds.add("too-large" if item.content.nbytes > budget else "sent")
        elif known is not None:
            entries = moves.touch(entries, key)
            served.append(known)
            kinds.add("claimed")
        elif key in kept:
            entries = moves.put(entries, budget, key, kept[key])
            served.append(kept[key])
            kinds.add("kept")
        else:
            missing.append(key)
    if missing:
        return entries, _outcome(kinds | {"missed"}, Missed(tuple(missing)))
    return entries, _outcome(kinds, tuple(served))


@lru_cache(MEMO)
def serve_without_cache(features: tuple[Feature, ...], kind: str) -> Outcome:
    """A message that P1's cache does not see is served from the data it brings itself.   [DR-15, DR-17]"""
    brought: dict[str, Content] = {}
    served: list[Content] = []
    missing: list[str] = []
    for item, sent, _ in features:
        if sent:
            brought[item.key] = item.content
        if item.key in brought:
            served.append(brought[item.key])
        else:
            missing.append(item.key)
    return Outcome(kind, Missed(tuple(missing)) if missing else tuple(served))


def _outcome(kinds: set[str], result: Any) -> Outcome:
    """What happened to the items of a request: the rarest rule that was needed, then all the others."""
    usual = kinds - RARE.keys()
    names = [*(rare for rare in RARE if rare in kinds)]
    if len(usual) > 1:
        names.append("mixed")
    names += sorted(usual)
    return Outcome(names[0] if names else "mixed", result, tuple(names[1:]))
