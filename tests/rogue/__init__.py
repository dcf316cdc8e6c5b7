"""Targets that take their process down, block it, or make a noise: the oracle must come back from each.

All but those that fail as they are imported misbehave when a receiver is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmcache_ref import reference


def names(misbehave: Callable[[], object]) -> dict[str, Any]:
    """The reference's names, with a receiver that misbehaves at every touch."""

    class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
        def touch_receiver_cache_item(self, mm_hash: str, mm_item: Any = None) -> None:
            misbehave()
            super().touch_receiver_cache_item(mm_hash, mm_item)

    known = {name: getattr(reference, name) for name in reference.__all__}
    return known | {"LruKeyReplicatedReceiverCache": LruKeyReplicatedReceiverCache}
