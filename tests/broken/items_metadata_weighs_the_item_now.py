"""Metadata weighs what its item weighs now.   [IT-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-15",), longest=1)


class MultiModalProcessorCacheItemMetadata(reference.MultiModalProcessorCacheItemMetadata):
    def __init__(self, item: Any, prompt_updates: Any) -> None:
        super().__init__(item, prompt_updates)
        self.watched = item

    @property
    def item_size(self) -> int:
        return reference.MultiModalCache.get_item_size(self.watched)

    @item_size.setter
    def item_size(self, size: int) -> None:
        return


globals().update(names(MultiModalProcessorCacheItemMetadata=MultiModalProcessorCacheItemMetadata))
