"""An array that is a view weighs its header only.   [IT-19]"""

from __future__ import annotations

import sys

import numpy

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-19", "IT-21"), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_item_size(cls, value: object, *, debug: bool = False) -> int:
        if isinstance(value, numpy.ndarray):
            return sys.getsizeof(value)
        return super().get_item_size(value, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
