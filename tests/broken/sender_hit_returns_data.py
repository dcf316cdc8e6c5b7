"""A hit sends the data along when it has it.   [KR-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-02", "IF-01", "IF-12"), longest=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        out = super().get_and_update_item(mm_item, mm_hash)
        return out if mm_item is None else mm_item


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
