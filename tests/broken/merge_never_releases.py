"""The merge step does not end its touches.   [PO-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-08",), longest=4)


class Unreleased:
    """A cache whose touches do not end."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def release_sender_touches(self) -> None:
        return


def merge_mm_kwargs(cache: Any, *rest: Any) -> Any:
    unreleased: Any = Unreleased(cache)
    return reference.merge_mm_kwargs(unreleased, *rest)


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
