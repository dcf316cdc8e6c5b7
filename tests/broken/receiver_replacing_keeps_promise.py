"""A promise outlives the data that replaces it.   [KR-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-15",), longest=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        held = self._promises._entries.get(mm_hash)
        try:
            return super().get_and_update_item(mm_item, mm_hash)
        finally:
            if held is not None:
                self._promises._entries[mm_hash] = held


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
