"""`get_and_update` uses up the list of items that it is given.   [IF-01]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("IF-01",), longest=1)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def get_and_update(self, mm_items: Any, mm_hashes: list[str]) -> Any:
        if len(mm_items) != len(mm_hashes):
            raise AssertionError
        return [self.get_and_update_item(mm_items.pop(0), mm_hash) for mm_hash in mm_hashes]


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
