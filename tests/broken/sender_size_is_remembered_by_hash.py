"""An entry is charged what the first item under its hash weighed.   [KR-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-01", "KR-03"), longest=3, level=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def __init__(self, model_config: Any) -> None:
        super().__init__(model_config)
        self.sizes: dict[str, int] = {}

    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        size = value.item_size
        fits = size <= cache.capacity
        value.item_size = self.sizes.setdefault(key, size) if fits else size
        return super().cache_if_fits(cache, key, value)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
