"""A clear of both sides is not atomic against requests in flight.   [DR-15]

P0 is cleared. Before P1 hears of it, a request with image a is sent, with its data, and P1 stores it. Then
P1 is cleared as well, and a is gone, while P0 has recorded it after its own clear: the next claim of a
misses. An entry from before a clear never counts after it; so a message that was sent after a clear waits
for it.
"""

from __future__ import annotations

from mmcache_ref.protocol import Channel, Message

from .fault import Fault


def overtake_the_clear(self: Channel, message: Message) -> bool:
    """A message arrives as it comes, whatever clear was sent before it."""
    return False


FAULT = Fault(
    name="D08",
    title="a clear of both sides is not atomic against requests in flight",
    replaces="protocol.channel:Channel._waits_for_clear",
    rule=overtake_the_clear,
    component="drift",
    clauses=("DR-15",),
    accidents=("clear-both",),
    without=("epoch", "ordered-delivery"),
)
