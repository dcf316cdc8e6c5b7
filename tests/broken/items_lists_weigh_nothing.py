"""Lists are not entered.   [IT-12]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-12",), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: object, *, debug: bool = False) -> int:
        if isinstance(value, list):
            return 0
        return super().get_item_size(value, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
