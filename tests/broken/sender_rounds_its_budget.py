"""The budget is a multiple of 4 bytes.   [FA-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("FA-11",), longest=1, level=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def __init__(self, model_config: Any) -> None:
        super().__init__(model_config)
        self._cache = reference.LRUCache(self._cache.capacity // 4 * 4, self._cache.getsizeof)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
