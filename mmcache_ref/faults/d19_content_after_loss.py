"""One identity stands for two contents, and requests are lost.   [DR-24, DR-20]

A client names its images itself, and re-uses a name. Image h1 of 98 bytes is delivered. Another image evicts
it in P0, in a request that is lost. h1 comes again, now with 18 bytes, and that message is lost too: P0 has
recorded 18 bytes, P1 still has the 98. The next request claims h1, and P1 serves the old image with the new
one's placeholders. What P0 has recorded must arrive: a message is kept until it has, and sent again when it
is lost.
"""

from __future__ import annotations

from mmcache_ref.protocol import Channel, Message

from .fault import Fault


def lose(self: Channel, position: int) -> Message | None:
    """What is lost stays lost."""
    del self._messages[position]
    return None


FAULT = Fault(
    name="D19",
    title="one identity stands for two contents, and after lost requests P1 serves the wrong one",
    replaces="protocol.channel:Channel.drop",
    rule=lose,
    component="drift",
    clauses=("DR-24", "DR-20"),
    accidents=("drop", "new-content"),
    without=("keep-data-until-sent",),
)
