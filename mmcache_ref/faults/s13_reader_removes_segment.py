"""A reader that closes removes the segment.   [RB-36, RB-30]

The workers attach to the writer's segment by its name. One of them ends, and on its way out removes the
name, be it by its own close or by the tracker of resources that it registered with. Those that have it open
go on; whoever comes next finds nothing, and the replacement of a worker that died cannot start. Only the
writer unlinks, once.
"""

from __future__ import annotations

import mmap
import os

from mmcache_ref.reference.segments import Segment, _opened, _remove_at_end

from .fault import Fault


def attach_for_good(name: str, size: int) -> Segment:
    """Who attaches will also remove the name."""
    with _opened(name) as descriptor:
        length = os.fstat(descriptor).st_size
        if length < size:
            raise ValueError(f"the segment {name!r} has {length} bytes, and {size} were asked for")
        return Segment(name, mmap.mmap(descriptor, size), size, _remove_at_end(name))


FAULT = Fault(
    name="S13",
    title="a reader that closes removes the writer's segment",
    replaces="reference.segments:attach",
    rule=attach_for_good,
    component="ring-buffer",
    clauses=("RB-36", "RB-30"),
    upstream=("#32429",),
)
