"""P0 updates modality by modality, P1 by position.   [DR-16]

A prompt names image 1, video 1 and image 2, and the cache holds three items. P0 works through the images
first and then the videos; P1 takes the items in prompt order. Afterwards the two sides hold the same keys in
different orders. Two new images evict the old images in P0, and the video in P1: a later claim misses,
without any concurrency.
"""

from __future__ import annotations

from mmcache_ref.protocol import FrontEnd, Request

from .fault import Fault


def group_by_modality(self: FrontEnd, request: Request) -> dict[str, list[int]]:
    """A group for each modality, in alphabetical order."""
    groups: dict[str, list[int]] = {}
    for place in sorted(range(len(request)), key=lambda place: request[place].modality):
        groups.setdefault(request[place].modality, []).append(place)
    return groups


FAULT = Fault(
    name="D10",
    title="P0 updates modality by modality, P1 by position",
    replaces="protocol.front_end:FrontEnd._groups",
    rule=group_by_modality,
    component="drift",
    clauses=("DR-16", "DR-06"),
    accidents=("mixed-modality",),
    without=("one-order",),
)
