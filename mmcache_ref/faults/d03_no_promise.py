"""What a request was promised at the check is not kept for it.   [KR-13, PO-07, KR-14, DR-12]

A request names more than fits the budget: it brings b, and claims a, which the check found cached. Storing b
evicts a, touched or not. P0 fails with an assertion and keeps b, which was never sent; P1 still has a. The
retry finds b cached and a missing, and evicts b in turn: it alternates between an assertion in P0 and a miss
in P1, and never succeeds.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.reference.lru import LRUCache
from mmcache_ref.reference.promises import PromisedEntries

from .fault import Fault


def hold_nothing(self: PromisedEntries[Any], cache: LRUCache[str, Any], key: str) -> None:
    """A touch promises nothing."""


FAULT = Fault(
    name="D03",
    title="a request larger than the cache evicts its own cached member, and no retry converges",
    replaces="reference.promises:PromisedEntries.hold",
    rule=hold_nothing,
    component="sender",
    clauses=("KR-13", "PO-07", "KR-14", "DR-12", "DR-23"),
    accidents=("oversize",),
    without=("keep-touched",),
)
