"""A request is refused after its update in P0, and never sent.   [DR-13]

A prompt with image a turns out to be too long for the model. By then P0 has updated its cache and believes
that P1 has a; the request never leaves. The next request with a goes out without data, and P1 has nothing to
serve it with: at first an assertion killed the engine's input thread, later the request failed. P0 may claim
only what was handed to the channel. Dropping the refused request's insertions is not enough: what they
evicted would be missing from P0.
"""

from __future__ import annotations

from mmcache_ref.protocol import FrontEnd, Message, Request

from .fault import Fault


def update_then_refuse(self: FrontEnd, request: Request) -> Message | None:
    """The refusal comes after the update."""
    self.check(request)
    return self.merge()


FAULT = Fault(
    name="D01",
    title="a request is refused after its update in P0, which goes on claiming its items",
    replaces="protocol.front_end:FrontEnd.refuse",
    rule=update_then_refuse,
    component="drift",
    clauses=("DR-13",),
    upstream=("#46354", "#43941", "#46451", "#51897"),
    accidents=("reject",),
    without=("rollback",),
)
