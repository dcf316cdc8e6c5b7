"""Validating an item makes its key the most recent one.   [IF-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-08",), longest=3, level=2)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        self._cache.touch(mm_hash)


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
