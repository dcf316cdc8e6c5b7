"""An item larger than the budget is recorded, as if P1 could keep it.   [KR-05]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-05",), longest=1)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        if not super().cache_if_fits(cache, key, value):
            value.item_size = 0
            cache.put(key, value)
        return True


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
