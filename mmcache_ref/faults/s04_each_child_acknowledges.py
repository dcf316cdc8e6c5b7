"""Each child of a request acknowledges its handle.   [SC-39, SC-34]

A client asks for two answers to one prompt. P0 counts one reference, but both children carry the handle to
every worker, and each worker counts it twice. The next request with this image gets a reference that has
been paid for already: the object counts as read by all before anybody has read it for that request, and its
place is given to another one while the handle is on its way.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedMessage, SharedWorker

from .fault import Fault


def read_each_time(self: SharedWorker, message: SharedMessage) -> bool:
    """No earlier child has done anything for a later one."""
    return False


FAULT = Fault(
    name="S04",
    title="each child of a request acknowledges its one reference",
    replaces="protocol.shared_worker:SharedWorker.is_acknowledged",
    rule=read_each_time,
    component="shm-caches",
    clauses=("SC-39", "SC-34"),
    accidents=("fan-out",),
    without=("one-acknowledgement",),
)
