"""P1 stops at the first item that it misses.   [IF-16, IF-15]

P0 sends a request whose items b, d and e it believes to be in P1, and P1 has lost all three. P1 raises at b:
d and e are not reported, and what came with its data behind b is not ingested. The retry misses d, the next
one e: one request costs a retry for each of its lost items.
"""

from __future__ import annotations

from mmcache_ref.reference import MultiModalFeatureSpec
from mmcache_ref.reference.base import BaseMultiModalReceiverCache
from mmcache_ref.reference.features import cache_key

from .fault import Fault


def stop_at_first_miss(
    self: BaseMultiModalReceiverCache, mm_features: list[MultiModalFeatureSpec]
) -> list[MultiModalFeatureSpec]:
    """The error of the first missing item leaves the loop."""
    for feature in mm_features:
        self.touch_receiver_cache_item(cache_key(feature), feature.data)
    for feature in mm_features:
        feature.data = self.get_and_update_item(feature.data, cache_key(feature))
    return mm_features


FAULT = Fault(
    name="D05",
    title="P1 stops at the first missing item, so a request takes one retry for each",
    replaces="reference.base:BaseMultiModalReceiverCache.get_and_update_features",
    rule=stop_at_first_miss,
    component="receiver",
    clauses=("IF-16", "IF-15"),
    upstream=("#46747",),
)
