"""A tuple without members weighs as an object.   [IT-18]"""

from __future__ import annotations

import sys
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-18",), longest=1, in_tiny=False)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: Any, *, debug: bool = False) -> int:
        if isinstance(value, tuple) and not value:
            return sys.getsizeof(value)
        return reference.MultiModalCache.get_item_size(value, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
