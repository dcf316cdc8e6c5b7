"""An item as large as the budget is not recorded.   [KR-03]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-03",), longest=1, in_tiny=False)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        return value.item_size < cache.capacity and super().cache_if_fits(cache, key, value)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
