"""After the addresses have wrapped around, the ring takes the wrong chunk for its oldest.   [RB-20, RB-22]

Chunks are freed across the physical end of the area. The start of the ring is then computed wrongly, and
lies beyond the oldest chunk that lives. The ring believes that it has more room than it has, and the next
allocation overwrites an object that workers have yet to read.
"""

from __future__ import annotations

from .fault import Fault


def bring_only_the_end_back(begin: int, end: int, oldest: int, capacity: int) -> tuple[int, int]:
    """When begin has passed the physical end, only end goes down by the capacity."""
    if oldest >= end:
        oldest -= capacity
    return (oldest, end) if oldest < capacity else (oldest, end - capacity)


FAULT = Fault(
    name="S10",
    title="after the addresses wrapped around, the ring believes that it has more room than it has",
    replaces="reference.ring_placement:free_up_to",
    rule=bring_only_the_end_back,
    component="ring-buffer",
    clauses=("RB-20", "RB-22", "RB-06"),
    upstream=("#27117",),
)
