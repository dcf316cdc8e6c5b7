"""The sender keeps the item.   [KR-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("KR-01",), longest=1)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        return super().cache_if_fits(cache, key, value)

    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        result = super().get_and_update_item(mm_item, mm_hash)
        self.__dict__.setdefault("items", {})[mm_hash] = mm_item
        return result


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
