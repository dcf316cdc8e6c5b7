"""A touched key that is not cached haunts the order, and evictions spin on it.   [LRU-10, LRU-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("lru", ("LRU-10", "LRU-18"), longest=1)


class LRUCache(reference.LRUCache[Any, Any]):
    def __init__(self, capacity: float, getsizeof: Any = None) -> None:
        super().__init__(capacity, getsizeof)
        self.ghosts: list[Any] = []

    @property
    def order(self) -> Any:
        return [*self.ghosts, *super().order]

    def touch(self, key: Any) -> None:
        if key not in self:
            self.ghosts.append(key)
        super().touch(key)

    def popitem(self, remove_pinned: bool = False) -> Any:
        while self.ghosts:
            self.pop(self.ghosts[0])
        return super().popitem(remove_pinned)

    def clear(self) -> None:
        super().clear()
        self.ghosts.clear()


globals().update(names(LRUCache=LRUCache))
