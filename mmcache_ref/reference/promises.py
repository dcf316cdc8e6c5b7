"""What a request was promised at the check: the entries that were cached when it touched them.

A request may name more than fits the budget. Its own insertions then evict items that it was told
are cached, and for which it therefore carries no data. Until its touches end such an item is
served from here, and stored again.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from .lru import LRUCache

V = TypeVar("V")


class PromisedEntries(Generic[V]):
    """The entries that the current request found cached, by reference.   [PO-07, KR-13, KR-14, DR-12]

    What is held here was in the cache at the touches, so it is at most one more budget of memory.
    """

    def __init__(self) -> None:
        self._entries: dict[str, V] = {}
        self._is_updating = False

    def hold(self, cache: LRUCache[str, V], key: str) -> None:
        """Promise a key if it is cached now; after an update a new request begins.   [PO-07, KR-13]"""
        if self._is_updating:
            self.end()
        if key in cache:
            self._entries[key] = cache.cache[key]

    def prepare(self, cache: LRUCache[str, V], key: str, *, has_data: bool) -> None:
        """Before the update of a key: store it again if it was promised and evicted.   [PO-07, KR-13, KR-14]

        It becomes the most recent one. It was cached, so it is not larger than the budget. Data that is
        going to be stored takes the place of what was promised.
        """
        self._is_updating = True
        if key in self._entries and key not in cache:
            if has_data:
                self.drop(key)
            else:
                cache.put_if_fits(key, self._entries[key])

    def drop(self, key: str) -> None:
        """The key is promised no longer.   [PO-08, KR-15]"""
        self._entries.pop(key, None)

    def end(self) -> None:
        """The touches end: nothing is promised.   [PO-08, KR-15]"""
        self._entries.clear()
        self._is_updating = False
