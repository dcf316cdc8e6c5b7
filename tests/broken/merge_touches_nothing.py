"""The merge step touches no hash before its updates.   [IF-10]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-13", "IF-10", "IF-11"), longest=3)


class Untouched:
    """A cache whose touches do nothing."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        return


def merge_mm_kwargs(cache: Any, *rest: Any) -> Any:
    untouched: Any = Untouched(cache)
    return reference.merge_mm_kwargs(untouched, *rest)


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
