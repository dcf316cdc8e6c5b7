"""Touching a key that is not cached leaves it in the order.   [LRU-10, LRU-18]

A request is refused after its check, and its keys are touched all the same. A key without a value now stands
in the eviction order. When it becomes the least recent one, every eviction chooses it, frees nothing, and
tries again: the thread spins for ever, while the health check stays green.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from mmcache_ref.reference.lru import LRUCache, _Values

from .fault import Fault

NOTHING: Final[Any] = (None, 0)
"""What the order holds for a ghost: no value, no bytes."""


class Haunted(OrderedDict[Any, Any]):
    """The entries of a cache, and in their order the ghosts, which are never found and never leave."""

    def _is_ghost(self, key: object) -> bool:
        return super().get(key) is NOTHING

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) and not self._is_ghost(key)

    def __getitem__(self, key: Any) -> Any:
        if self._is_ghost(key):
            raise KeyError(key)
        return super().__getitem__(key)

    def __len__(self) -> int:
        return sum(not self._is_ghost(key) for key in self)

    def get(self, key: Any, default: Any = None) -> Any:
        return default if self._is_ghost(key) else super().get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        if not self._is_ghost(key):
            return super().pop(key, *default)
        return default[0] if default else NOTHING

    def popitem(self, last: bool = True) -> Any:
        oldest = next(iter(self))
        return (oldest, NOTHING) if self._is_ghost(oldest) else super().popitem(last)


def touch_whatever_it_is(self: LRUCache[Any, Any], key: Any) -> None:
    """A key that is not cached joins the order as its most recent key."""
    if key not in self._entries and not isinstance(self._entries, Haunted):
        self._entries = Haunted(self._entries)
        self._values = _Values(self._entries)
    if key not in self._entries:
        self._entries[key] = NOTHING
    self._entries.move_to_end(key)


FAULT = Fault(
    name="D06",
    title="a touch leaves a ghost in the order, and evictions choose it for ever",
    replaces="reference.lru:LRUCache.touch",
    rule=touch_whatever_it_is,
    component="lru",
    clauses=("LRU-10", "LRU-18"),
    upstream=("#43941", "#43595"),
)
