"""All receivers of the process have one LRU.   [IF-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-19",), longest=1)

ENTRIES: dict[int, Any] = {}


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def __init__(self, model_config: Any) -> None:
        super().__init__(model_config)
        self._cache = ENTRIES.setdefault(int(self._cache.capacity), self._cache)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
