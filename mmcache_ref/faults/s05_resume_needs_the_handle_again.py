"""A request that is resumed reads its handles again.   [SC-40, SC-34]

Its workers have read and acknowledged the image when the request is preempted. Later it is scheduled anew
and sent to the workers once more, with the same handle. Either the object still lies there, and is
acknowledged a second time, or it has been reclaimed, and the handle is no longer valid: the worker fails,
and the engine with it. What a worker has read it has to keep until the request has ended.
"""

from __future__ import annotations

from mmcache_ref.protocol import SharedWorker

from .fault import Fault


def keep_nothing(self: SharedWorker) -> bool:
    """What was read is gone when every child has it."""
    return False


FAULT = Fault(
    name="S05",
    title="a request that resumes reads its handles again",
    replaces="protocol.shared_worker:SharedWorker.keeps_until_done",
    rule=keep_nothing,
    component="shm-caches",
    clauses=("SC-40", "SC-34"),
    accidents=("resume",),
    without=("handle-until-done",),
)
