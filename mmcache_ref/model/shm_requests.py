"""What travels between P0 and its workers when the items lie in shared memory.   [spec/08-shm-caches.md]

A request is a tuple of items in prompt order. P0 turns it into one message, which every worker reads once for
each child. Sizes are in units: a content of `nbytes` 2 is an item whose chunk takes two units.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from .component import Content
from .shm_store import Handle, Store

How = Literal["handle", "item", "nothing"]


class Item(NamedTuple):
    """One item of a request: its identity, its content, and whether the client supplies the data."""

    key: str
    content: Content
    supplied: bool = True


Request = tuple[Item, ...]


class Carried(msgspec.Struct, frozen=True, tag_field="result", tag="carried"):
    """How an item travels: as a handle, with its data, or stripped; and what its prompt updates belong to."""

    how: How
    content: Content


class Feature(NamedTuple):
    """An item on its way to the workers: with a handle, with its data (no handle), or stripped of it.

    `is_referenced` is false for a client's handle that took no reference.
    """

    item: Item
    handle: Handle | None = None
    is_stripped: bool = False
    is_referenced: bool = True

    @property
    def how(self) -> How:
        """How it travels."""
        if self.is_stripped:
            return "nothing"
        return "item" if self.handle is None else "handle"


class Message(NamedTuple):
    """A request on its way: for each worker the children it has yet to read, and whether it has read any.

    Of a release the workers drop what they read. `has_missed`: some worker found a chunk gone.
    """

    features: tuple[Feature, ...]
    children: int
    left: tuple[int, ...]
    has_read: tuple[bool, ...]
    is_release: bool = False
    has_missed: bool = False


class Running(NamedTuple):
    """A request that every worker has read; `has_resumed` when it was preempted and read again."""

    features: tuple[Feature, ...]
    children: int
    has_resumed: bool = False


class Retry(NamedTuple):
    """A request that a worker could not serve, and that its client sends again with all data."""

    request: Request
    children: int


class State(NamedTuple):
    """The store, and everything under way.

    `outdated`: keys of which a handle was handed out that is not current any more; `is_dead`: a worker met a
    handle whose chunk is gone, and the engine died of it.
    """

    store: Store
    channel: tuple[Message, ...] = ()
    running: tuple[Running, ...] = ()
    retries: tuple[Retry, ...] = ()
    outdated: frozenset[str] = frozenset()
    is_dead: bool = False


def request(*names: str, supplied: bool = True) -> Request:
    """A request from names such as `a` (one unit) or `b:2` (two); each key has a content of its own."""
    items = []
    for name in names:
        key, _, units = name.partition(":")
        items.append(Item(key, Content(int(units or 1), ord(key[0]) - ord("a") + 1), supplied))
    return tuple(items)
