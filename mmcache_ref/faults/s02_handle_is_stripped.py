"""Items that the prefix cache covers lose their handle together with their data.   [SC-30, SC-35]

The workers need no data of an item whose tokens the prefix cache has: its payload is dropped before the
request is scheduled. The first form of this made the receiver fail on an item without data; a later one
dropped handles, too. A handle stands for a reference that P0 has counted. When no worker sees it, none
acknowledges it, and the object is never reclaimed. Data may be dropped; a handle always reaches every
worker.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedDeployment

from .fault import Fault


def strip_everything(self: SharedDeployment) -> bool:
    """Handles go together with the payloads."""
    return False


FAULT = Fault(
    name="S02",
    title="handles are stripped like payloads, and their references are never acknowledged",
    replaces="protocol.shared_deployment:SharedDeployment.keeps_handles",
    rule=strip_everything,
    component="shm-caches",
    clauses=("SC-30", "SC-35"),
    upstream=("#52041", "#54994"),
    accidents=("strip",),
    without=("keep-handles",),
)
