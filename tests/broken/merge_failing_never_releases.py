"""The touches of a merge step that fails do not end.   [KR-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=4, in_tiny=False)


class Unreleased:
    """A cache whose touches end only from outside of the merge step."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def release_sender_touches(self) -> None:
        return


def merge_mm_kwargs(cache: Any, *rest: Any) -> Any:
    unreleased: Any = Unreleased(cache)
    merged = reference.merge_mm_kwargs(unreleased, *rest)
    cache.release_sender_touches()
    return merged


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
