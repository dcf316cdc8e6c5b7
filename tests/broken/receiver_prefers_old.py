"""What is cached beats data that is sent.   [KR-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("KR-08", "IF-14"), longest=2)


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        return super().get_and_update_item(None if mm_hash in self._cache else mm_item, mm_hash)


globals().update(names(LruKeyReplicatedReceiverCache=LruKeyReplicatedReceiverCache))
