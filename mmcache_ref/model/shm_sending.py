"""P0's side: a request from its check to the message.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from typing import NamedTuple

from . import shm_store as moves
from .component import Outcome, Raised, Refused, several
from .shm_environment import Config
from .shm_requests import Carried, Feature, Item, Message, Request, State
from .shm_store import Store

Stepped = tuple[State, Outcome]
DISABLED = Outcome("disabled")
RARE = ("asserted", "too-large", "no-room")
"""What may become of an item in P0 besides `put` and `hit`; it names the outcome."""


class Updated(NamedTuple):
    """What P0's updates left in the store and made: features in prompt order, up to an assertion."""

    store: Store
    features: tuple[Feature, ...]
    kinds: frozenset[str]
    result: object

    @property
    def is_whole(self) -> bool:
        """Whether every item was updated."""
        return "asserted" not in self.kinds

    def outcome(self, *kinds: str) -> Outcome:
        """What happened: what is rare, then these kinds, then what is usual."""
        return several((*RARE, *kinds, "put", "hit"), {*kinds, *self.kinds}, self.result)


def unsupplied(state: State, request: Request) -> Outcome | None:
    """The refusal of a request that lacks data of items that are not stored; else None.   [SC-26]"""
    hashes = tuple(
        [item.key for item in request if not item.supplied and moves.place_of(state.store, item.key) is None]
    )
    return Outcome("unsupplied", Refused(hashes)) if hashes else None


def update(config: Config, store: Store, request: Request) -> Updated:
    """Touches and updates of one request.   [SC-02, SC-03, SC-04, SC-05, SC-08, SC-09, SC-25, SC-28]

    A key that was stored at the check is touched until it is looked up, so it can be gone only where counts
    are wrong: then P0 has no data for it, and what was recorded before stays.
    """
    cached = {item.key for item in request if moves.place_of(store, item.key) is not None}
    touched = set(cached)
    features: list[Feature] = []
    kinds: set[str] = set()
    for item in request:
        key = item.key
        place = moves.place_of(store, key)
        if place is not None:
            store = moves.look_up(store, place)
            touched.discard(key)
            stored = Item(key, store.entries[place].content)
            features.append(Feature(stored, moves.handle_at(store, place)))
            kinds.add("hit")
        elif key in cached:
            kinds.add("asserted")
            result = Raised("AssertionError", says=key)
            return Updated(store, tuple(features), frozenset(kinds), result)
        else:
            store, kind = moves.put(config.capacity, config.limit, store, touched, key, item.content)
            handle = moves.handle_at(store, len(store.entries) - 1) if kind == "put" else None
            features.append(Feature(Item(key, item.content), handle))
            kinds.add(kind)
    return Updated(store, tuple(features), frozenset(kinds), carried(features))


def carried(features: list[Feature] | tuple[Feature, ...]) -> tuple[Carried, ...]:
    """How each item travels.   [SC-28]"""
    return tuple([Carried(feature.how, feature.item.content) for feature in features])


def message(
    config: Config, features: tuple[Feature, ...], children: int, is_release: bool = False
) -> Message:
    """A message that nobody has read; a release is read once, whatever the children.   [SC-29, SC-38]"""
    left = 1 if is_release else children
    return Message(features, children, (left,) * config.workers, (False,) * config.workers, is_release)


def open_requests(state: State) -> int:
    """How many requests are under way."""
    return len(state.channel) + len(state.running) + len(state.retries)


def may_begin(config: Config, state: State, children: int, request: Request | None = None) -> bool:
    """Whether another request may come, with so many children; none is without items, or has empty ones."""
    if request is not None and not (request and all(item.content.nbytes > 0 for item in request)):
        return False
    return (
        not state.is_dead
        and open_requests(state) < config.depth
        and (children == 1 or (children > 1 and "fan-out" in config.accidents))
    )


def in_store(state: State, store: Store) -> State:
    """The state with another store; keys whose handles are no longer current are noted."""
    before, after = state.store.ring.chunks, {chunk.id for chunk in store.ring.chunks}
    gone = {
        entry.key for chunk, entry in zip(before, state.store.entries, strict=True) if chunk.id not in after
    }
    return state._replace(store=store, outdated=state.outdated | gone)


def send(config: Config, state: State, updated: Updated, children: int) -> Stepped:
    """A request that P0 has updated goes into the channel.   [SC-25]"""
    if not updated.is_whole:
        return break_off(config, state, updated, children)
    after = in_store(state, updated.store)
    channel = (*after.channel, message(config, updated.features, children))
    return after._replace(channel=channel), updated.outcome()


def break_off(config: Config, state: State, updated: Updated, children: int) -> Stepped:
    """After an assertion nothing is sent but a release of what was handed out before it.   [SC-38]"""
    after = in_store(state, updated.store)
    if config.releases and any(feature.handle is not None for feature in updated.features):
        release = message(config, updated.features, children, is_release=True)
        after = after._replace(channel=(*after.channel, release))
    return after, updated.outcome()
