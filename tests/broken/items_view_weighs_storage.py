"""A tensor that is a view weighs the storage it is a part of.   [IT-13]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-13",), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: object, *, debug: bool = False) -> int:
        if hasattr(value, "untyped_storage"):
            return int(value.untyped_storage().nbytes())
        return super().get_item_size(value, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
