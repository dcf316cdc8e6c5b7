"""A budget that is a fraction is rounded to whole units.   [IT-17]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-17",), longest=1)


class MultiModalCache(reference.MultiModalCache):
    @classmethod
    def get_lru_cache(cls, capacity_gb: float, value_type: type[Any], *, debug: bool = False) -> Any:
        return super().get_lru_cache(round(capacity_gb), value_type, debug=debug)


globals().update(names(MultiModalCache=MultiModalCache))
