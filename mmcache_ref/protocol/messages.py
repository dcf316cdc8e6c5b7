"""What travels: requests from clients, messages from P0 to P1, answers, and reports of a miss."""

from __future__ import annotations

from typing import Any, NamedTuple


class RequestItem(NamedTuple):
    """One item of a request: its identity, its raw data, and whether the client sent the data along.

    A client may leave the data of an item out when it believes that the item is cached; its retry brings it.
    """

    mm_hash: str
    data: Any
    modality: str = "image"
    is_supplied: bool = True


Request = tuple[RequestItem, ...]
"""The items of one prompt, in order."""


class Message(NamedTuple):
    """A request on its way to P1.

    `features` in prompt order, `data` None where P0 claims that P1 has the item; `number` of the clear it was
    sent under; `is_recorded`: it went through P0's cache; `name`: what P0 calls it, and no other message.
    """

    request: Request
    features: list[Any]
    number: int
    is_recorded: bool = True
    name: int = 0


class Report(NamedTuple):
    """A miss on its way back: the request, the missing hashes in order, P1's number, the number that the
    request was sent under, and the name of its message."""

    request: Request
    missing: tuple[str, ...]
    number: int
    sent_under: int
    name: int = 0


class Answer(NamedTuple):
    """What P1 says of a message: the items it serves, in order, or which ones it misses."""

    items: tuple[Any, ...] | None
    missing: tuple[str, ...] = ()
