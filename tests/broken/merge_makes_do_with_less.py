"""A merge step that lacks an item sends the others, as if it were cached.   [IF-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("IF-18",), longest=1)


def merge_mm_kwargs(cache: Any, hashes: Any, is_cached: Any, items: Any, updates: Any) -> Any:
    try:
        return reference.merge_mm_kwargs(cache, hashes, is_cached, items, updates)
    except IndexError:
        return reference.MultiModalKwargsItems({}), {}


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
