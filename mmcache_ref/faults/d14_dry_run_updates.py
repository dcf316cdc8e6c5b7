"""A dry run goes through P0's update, and its result is thrown away.   [DR-13]

A prompt is rendered twice: once to count its tokens, once to send it. The first rendering passes the cache,
which records image a as sent. The second one finds a cached and sends no data, and P1 misses it: a request
defeats itself. Each request that is sent has exactly one update, and one that is not sent has none.
"""

from __future__ import annotations

from mmcache_ref.protocol import FrontEnd, Message, Request

from .fault import Fault


def update_for_the_result(self: FrontEnd, request: Request) -> Message | None:
    """The dry run is a whole request but for its sending."""
    self.check(request)
    return self.merge()


FAULT = Fault(
    name="D14",
    title="a dry run goes through P0's update and is thrown away",
    replaces="protocol.front_end:FrontEnd.dry_run",
    rule=update_for_the_result,
    component="drift",
    clauses=("DR-13",),
    upstream=("#27874",),
    accidents=("dry-run",),
    without=("rollback",),
)
