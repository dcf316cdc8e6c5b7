"""A hit does not make the key the most recent one.   [KR-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-02", "IF-01", "IF-11"), longest=3)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        order = list(self._cache)
        was_cached = mm_hash in self._cache
        out = super().get_and_update_item(mm_item, mm_hash)
        if was_cached:
            for key in order:
                self._cache.touch(key)
        return out


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
