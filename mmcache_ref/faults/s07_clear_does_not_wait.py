"""The caches are cleared while handles are under way.   [SC-41]

A reset is asked for when requests are still queued. P0 forgets all objects and puts new ones in their
places; then a worker comes with a handle from before. Upstream's worker died of it, and the engine with it.
A reader that looked at the id before its copy only could return half of each object, and its count landed
in the new chunk. A clear waits until no handle is under way.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedDeployment

from .fault import Fault


def clear_at_once(self: SharedDeployment) -> bool:
    """A clear waits for nothing."""
    return False


FAULT = Fault(
    name="S07",
    title="a clear does not wait for the handles that are under way",
    replaces="protocol.shared_deployment:SharedDeployment.must_drain",
    rule=clear_at_once,
    component="shm-caches",
    clauses=("SC-41",),
    accidents=("clear-in-flight",),
    without=("drained-clear",),
)
