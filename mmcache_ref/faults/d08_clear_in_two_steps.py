"""A clear of both sides is not atomic against requests in flight.   [DR-15]

P0 is cleared. Before P1 hears of it, a request with image a is sent, with its data, and P1 stores it. Then
P1 is cleared as well, and a is gone, while P0 has recorded it after its own clear: the next claim of a
misses. An entry from before a clear never counts after it; so the messages sent after P0's clear must carry
its number, and wait for it.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.protocol import FrontEnd, Message, Request

from .fault import Fault


def number_by_what_has_cleared(
    self: FrontEnd, request: Request, items: list[Any], *, is_recorded: bool
) -> Message:
    """Until P1 has cleared, messages carry the number from before the clear."""
    features = [
        self._implementation.make_feature(data, item.modality, item.mm_hash, place)
        for place, (item, data) in enumerate(zip(request, items, strict=True))
    ]
    number = self.number - 1 if self._channel.clearing else self.number
    message = Message(request, features, number, is_recorded)
    self._work.messages += 1
    self._work.claims += sum(item is None for item in items)
    self._work.payload_bytes += self.payload_bytes(message)
    return message


FAULT = Fault(
    name="D08",
    title="a clear of both sides is not atomic against requests in flight",
    replaces="protocol.front_end:FrontEnd._message",
    rule=number_by_what_has_cleared,
    component="drift",
    clauses=("DR-15",),
    accidents=("clear-both",),
    without=("epoch", "ordered-delivery"),
)
