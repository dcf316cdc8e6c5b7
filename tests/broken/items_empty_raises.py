"""A value without leaves cannot be weighed.   [IT-18]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-18",), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: object, *, debug: bool = False) -> int:
        if isinstance(value, list | tuple | dict) and not value:
            raise TypeError("reduce() of empty iterable with no initial value")
        return super().get_item_size(value, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
