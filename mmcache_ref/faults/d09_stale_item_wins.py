"""P1 prefers the item that it has to the one that it was sent.   [KR-08, KR-09]

P0 sends data exactly when it no longer knows what P1 has. A client re-uses an identity for a larger image;
P0 has evicted the key, so the new data travels, and P1 answers with the old item. The model gets the
placeholders of one image and the tensor of another, and the engine dies. Data that was sent wins, also when
it is too large to keep.
"""

from __future__ import annotations

from mmcache_ref.reference import MultiModalKwargsItem
from mmcache_ref.reference.base import MultiModalCacheMissError
from mmcache_ref.reference.key_replicated import LruKeyReplicatedReceiverCache

from .fault import Fault


def update_unless_cached(
    self: LruKeyReplicatedReceiverCache, mm_item: MultiModalKwargsItem | None, mm_hash: str
) -> MultiModalKwargsItem:
    """What is cached is returned, whatever was sent."""
    self._promises.prepare(self._cache, mm_hash, has_data=mm_item is not None)
    cached = self._cache.get(mm_hash)
    if cached is not None:
        return cached
    if mm_item is None:
        raise MultiModalCacheMissError([mm_hash])
    self.cache_if_fits(self._cache, mm_hash, mm_item)
    return mm_item


FAULT = Fault(
    name="D09",
    title="P1 prefers the item it has to the one it was sent",
    replaces="reference.key_replicated:LruKeyReplicatedReceiverCache.get_and_update_item",
    rule=update_unless_cached,
    component="receiver",
    clauses=("KR-08", "KR-09", "IF-14"),
    upstream=("#57833",),
)
