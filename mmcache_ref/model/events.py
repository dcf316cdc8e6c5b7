"""What a process writes down of what it does: the events of a log.   [EV-01, EV-06]

A log is a `Header` and then events, each a line of JSON. No event says when it happened: only the order
within each process counts, and which message was made before it was taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from .component import LARGEST_CONTENT
from .shm_accidents import Forgery, Seen

VERSION: Literal[1] = 1
"""Of the form of a log."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class Header(msgspec.Struct, frozen=True, tag_field="event", tag="header", forbid_unknown_fields=True):
    """The first line of a log: what is between its events in the model.   [EV-01]

    Attributes:
        version: of the form of the log.
        cache: `lru`, the key-replicated pair, or `shm`.
        capacity: `lru`: the budget in bytes; `shm`: the ring, in units that every chunk is a multiple of.
        limit: the largest chunk in units; of `shm` only.
        workers: how many read each message; of `shm` only.
        protections: by the names of `mmcache-ref explore`.
    """

    version: Literal[1]
    cache: Literal["lru", "shm"]
    capacity: Count
    protections: tuple[str, ...]
    limit: Annotated[int, msgspec.Meta(ge=1)] = 1
    workers: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1


class Item(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An item of a request: `nbytes` in bytes, of `shm` in units; `fill` tells contents of a size apart."""

    key: str
    nbytes: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_CONTENT)]
    fill: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0
    is_supplied: bool = True
    modality: str = "image"


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="event",
):
    """What all events have.   [EV-02, EV-03, EV-05, EV-07]

    Attributes:
        process: `p0`, `p1`, `w0`, `w1` and so on, or `channel` for what lies between them.
        number: of this event among those of its process, from 0.
        did: what was done, by the name of the model's operation.
        saw: what the process got, in the form of a stored run.
        holds: the keys of the process's own cache afterwards, in eviction order; None where it has none.
        made: the name of the message that it sent, if any.
        lock: where the process had the lock that all share: its numbers as it took it and as it last let it
            go; they come from one counter, which goes on each time that anybody takes the lock.
    """

    process: Annotated[str, msgspec.Meta(pattern=r"^(p0|p1|channel|w\d{1,2})$")]
    number: Count
    saw: Any = None
    holds: tuple[str, ...] | None = None
    made: Count | None = None
    lock: tuple[Count, Count] | None = None


class Asked(Event, frozen=True, tag="request"):
    """P0 was asked something by a client."""

    did: Literal["submit", "check", "reject", "dry-run", "bypass", "second-front-end", "second-engine"]
    request: tuple[Item, ...]
    children: Annotated[int, msgspec.Meta(ge=1)] = 1


class Took(Event, frozen=True, tag="message"):
    """Something was done with a message, or with what is left of it: its miss, its retry.   [EV-04]

    Attributes:
        message: the name that whoever made it gave it.
        keys: the identities of its items, in order, as this process sees them.
    """

    did: Literal[
        "deliver",
        "read",
        "finish",
        "handle-report",
        "lose-report",
        "retry",
        "abort",
        "drop",
        "strip",
        "resume",
    ]
    message: Count
    keys: tuple[str, ...]


class Brought(Event, frozen=True, tag="handle"):
    """A client brought a handle: one that it saw, or one of its own making."""

    did: Literal["replay", "forge"]
    key: str
    is_outdated: bool = False
    how: Forgery = "wrong-key"
    at: Seen = "p0"


class Did(Event, frozen=True, tag="step"):
    """A step without a request and without a message."""

    did: Literal[
        "update", "clear", "clear-p0", "clear-p1", "clear-both", "finish-clear", "restart-p1", "worker-death"
    ]


AnyEvent = Asked | Took | Brought | Did
Line = Header | AnyEvent
"""What stands in a line of a log."""

DOERS: Mapping[str, str] = {
    "deliver": "p1",
    "clear-p1": "p1",
    "finish-clear": "p1",
    "restart-p1": "p1",
    "read": "w",
    "worker-death": "w",
    "abort": "channel",
    "drop": "channel",
    "strip": "channel",
    "finish": "channel",
    "resume": "channel",
}
"""Which process does what; a worker is `w` with its number, and everything else is done by P0.   [EV-03]"""


def doer(did: str) -> str:
    """The process, or the kind of process, that does this.   [EV-03]"""
    return DOERS.get(did, "p0")


def is_done_by(did: str, process: str) -> bool:
    """Whether this process does such a thing.   [EV-03]"""
    return process[:1] == "w" if doer(did) == "w" else process == doer(did)
