"""An item is invalidated between the check and the update of another request.   [DR-18]

One thread of P0 has checked a request: image a is cached, so it is not processed. Meanwhile the event loop
handles the report of another request's miss, and invalidates a. Back on the first thread the update finds
neither an entry nor data, and an innocent request fails with an assertion. Nothing may come between a check
and its update.
"""

from __future__ import annotations

from mmcache_ref.protocol import FrontEnd

from .fault import Fault


def never_wait(self: FrontEnd) -> bool:
    """Reports and clears are handled whenever they come."""
    return False


FAULT = Fault(
    name="D12",
    title="an item is invalidated between the check and the update of another request",
    replaces="protocol.front_end:FrontEnd.must_wait",
    rule=never_wait,
    component="drift",
    clauses=("DR-18",),
    accidents=("invalidate-race", "clear-p1"),
    without=("serialised-invalidation",),
)
