"""The references of a worker that died are waited for.   [SC-44, SC-35]

A worker dies with handles it has not read, and another one takes its place. What the dead one would have
acknowledged nobody acknowledges now: its objects become the oldest and stay, and a clear that waits for
handles under way waits for ever. When a worker dies, the requests under way end with a retryable miss, and
the store is cleared.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedDeployment

from .fault import Fault


def go_on_without_it(self: SharedDeployment) -> bool:
    """The requests of a dead worker are forgotten, and the store stays."""
    return False


FAULT = Fault(
    name="S15",
    title="what a dead worker has not acknowledged is waited for",
    replaces="protocol.shared_deployment:SharedDeployment.clears_on_death",
    rule=go_on_without_it,
    component="shm-caches",
    clauses=("SC-44", "SC-35"),
    accidents=("worker-death",),
    without=("clear-on-death",),
)
