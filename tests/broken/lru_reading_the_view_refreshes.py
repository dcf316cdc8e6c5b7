"""A value that is read in the view becomes the most recent.   [LRU-29]"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-29",), longest=3)


class Refreshing(dict[Any, Any]):
    """The values, of which reading one by its key is noted."""

    touch: Any = None

    def __getitem__(self, key: Any) -> Any:
        self.touch(key)
        return super().__getitem__(key)


class LRUCache(reference.LRUCache[Any, Any]):
    @property
    def cache(self) -> Mapping[Any, Any]:
        view = Refreshing(super().cache)
        view.touch = self.touch
        return view


globals().update(names(LRUCache=LRUCache))
