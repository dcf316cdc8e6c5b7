"""A request that never reaches the workers leaves its references behind.   [SC-38, SC-35]

P0 has put an image and counted a reference when the request is refused, since it is too long for the model.
The handle is thrown away with the request. The object is never acknowledged; when it has become the oldest,
nothing behind it can be reclaimed, and soon every new image travels inline. Every reference that was handed
out has to be acknowledged or released, also if its request is refused or aborted.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedDeployment

from .fault import Fault


def release_nothing(self: SharedDeployment) -> bool:
    """What a refused or aborted request names is forgotten."""
    return False


FAULT = Fault(
    name="S03",
    title="a refused or aborted request leaves references that nobody acknowledges",
    replaces="protocol.shared_deployment:SharedDeployment.releases",
    rule=release_nothing,
    component="shm-caches",
    clauses=("SC-38", "SC-35"),
    upstream=("#46451", "#51897"),
    accidents=("reject",),
    without=("release-on-abort",),
)
