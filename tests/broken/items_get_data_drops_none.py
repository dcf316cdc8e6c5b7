"""An element without data is not in what an item's data are.   [IT-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-06",), longest=1)


class MultiModalKwargsItem(reference.MultiModalKwargsItem):
    def get_data(self) -> Any:
        return {key: data for key, data in super().get_data().items() if data is not None}


globals().update(names(MultiModalKwargsItem=MultiModalKwargsItem))
