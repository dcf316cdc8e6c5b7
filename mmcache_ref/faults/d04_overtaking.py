"""A claim overtakes the data it relies on.   [DR-14]

The first request with image a carries its data, the second one claims that P1 has it. The two travel by
different threads or queues, and the second arrives first: P1 cannot serve it, and in early releases the
engine died. It is not enough that no claim overtakes its own data: two requests that share no item, swapped,
leave the two sides in different orders, and a later claim misses.
"""

from __future__ import annotations

from mmcache_ref.protocol import Channel

from .fault import Fault


def wait_for_nothing(self: Channel, position: int) -> bool:
    """A message may arrive before those that were sent before it."""
    return False


FAULT = Fault(
    name="D04",
    title="a claim overtakes the data it relies on",
    replaces="protocol.channel:Channel._waits_for_messages",
    rule=wait_for_nothing,
    component="drift",
    clauses=("DR-14", "DR-07"),
    upstream=("#34749", "#46747", "#31404"),
    accidents=("reorder",),
    without=("ordered-delivery",),
)
