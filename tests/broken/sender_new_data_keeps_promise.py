"""What was promised of a key outlives an update of it with data.   [KR-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=6, in_tiny=False)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        held = self._promises._entries.get(mm_hash)
        result = super().get_and_update_item(mm_item, mm_hash)
        if held is not None:
            self._promises._entries[mm_hash] = held
        return result


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
