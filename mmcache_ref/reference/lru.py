"""A least-recently-used cache with a budget in bytes, and counters of its lookups.

One ordered dictionary holds key, value and size, least recently used key first: there is no second
record that could disagree with it. Not safe for use by several threads at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from typing import Any, NamedTuple, TypeVar, overload

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")


class CacheInfo(NamedTuple):
    """How many lookups there were, and how many of them found their key.   [IT-11]"""

    hits: int
    total: int

    @property
    def hit_ratio(self) -> float:
        """Hits per lookup, 0 before the first lookup."""
        return self.hits / self.total if self.total else 0

    def __sub__(self, other: CacheInfo) -> CacheInfo:
        """The counts since `other` was taken."""
        return CacheInfo(self.hits - other.hits, self.total - other.total)


class LRUCache(MutableMapping[K, V]):
    """A mapping that forgets its least recently used keys to stay within a budget.   [LRU-01, LRU-02]

    Iteration, `keys()`, `values()`, `items()` and `==` go from the least to the most recently used
    key, and neither reorder nor count.

    Args:
        capacity: the budget, in the unit of `getsizeof` (bytes in the caches); not negative.
        getsizeof: the size of a value, not negative; by default each value counts 1. It is asked once
            for each insertion, and the entry is charged that size for as long as it stays.
    """

    def __init__(self, capacity: float, getsizeof: Callable[[V], float] | None = None) -> None:
        if not capacity >= 0:
            raise ValueError(f"the capacity of a cache is 0 or more, not {capacity!r}")
        self.getsizeof: Callable[[V], float] = getsizeof or _one
        self.pinned_items: set[K] = set()
        self._entries: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._values = _Values(self._entries)
        self._maxsize = capacity
        self._currsize: float = 0
        self._hits = 0
        self._total = 0
        self._reported = CacheInfo(0, 0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cache}, maxsize={self._maxsize!r}, currsize={self._currsize!r})"

    @property
    def maxsize(self) -> float:
        """The budget."""
        return self._maxsize

    @property
    def currsize(self) -> float:
        """The sum of the sizes of the entries.   [LRU-01]"""
        return self._currsize

    @property
    def capacity(self) -> float:
        """The same as `maxsize`.   [LRU-03]"""
        return self._maxsize

    @property
    def usage(self) -> float:
        """The part of the budget that is in use, 0 to 1.   [LRU-03]"""
        return self._currsize / self._maxsize if self._maxsize else 0

    @property
    def cache(self) -> Mapping[K, V]:
        """Live view of the values, least recently used key first; reading it is no lookup.   [LRU-29]"""
        return self._values

    @property
    def order(self) -> Mapping[K, None]:
        """Live view of the keys, least recently used first; every value is `None`.   [LRU-02, LRU-29]"""
        return _Order(self._entries)

    def stat(self, *, delta: bool = False) -> CacheInfo:
        """Counters since the last clear, or since the last call with `delta`.   [LRU-27, LRU-28]"""
        info = CacheInfo(self._hits, self._total)
        if not delta:
            return info
        since = info - self._reported
        self._reported = info
        return since

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        """Whether the key is cached; this is no lookup.   [LRU-04]"""
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def values(self) -> ValuesView[V]:
        return self.cache.values()

    def items(self) -> ItemsView[K, V]:
        return self.cache.items()

    def __getitem__(self, key: K, *, update_info: bool = True) -> V:
        """Look up a cached key, or raise `KeyError` and count nothing.   [LRU-05, LRU-06]

        With `update_info=False` a cached key becomes the most recent one and nothing is counted.
        """
        value = self._entries[key][0]
        self._entries.move_to_end(key)
        if update_info:
            self._hits += 1
            self._total += 1
        return value

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, /, default: V | T) -> V | T: ...
    def get(self, key: K, /, default: Any = None) -> Any:
        """Look up a key, counting also when it is not cached.   [LRU-07, LRU-08]"""
        entries = self._entries
        is_cached = key in entries
        self._total += 1
        if not is_cached:
            return default
        self._hits += 1
        entries.move_to_end(key)
        return entries[key][0]

    def touch(self, key: K) -> None:
        """Make a cached key the most recent one; other keys leave no trace.   [LRU-09, LRU-10]"""
        if key in self._entries:
            self._entries.move_to_end(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def put(self, key: K, value: V) -> None:
        """Insert as the most recent, evicting least recent keys until it fits.   [LRU-13, LRU-16]

        Raises:
            ValueError: "value too large" when it is larger than the whole budget; nothing changes.
            RuntimeError: when all that is left to evict is pinned (LRU-21).
        """
        if not self.put_if_fits(key, value):
            raise ValueError("value too large")

    def put_if_fits(self, key: K, value: V) -> bool:
        """Insert as `put` does, or change nothing and return False when it is too large.   [LRU-17]"""
        size = self.getsizeof(value)
        if size > self._maxsize:
            return False
        if not size >= 0:
            raise ValueError(f"a value has a size of 0 or more, not {size!r}")
        entries = self._entries
        replaced = entries.get(key)
        if replaced is None:
            self._make_room(size)
        elif size > replaced[1]:
            replaced = self._make_room_to_grow(key, size)
        entries[key] = value, size
        self._currsize += size
        if replaced is not None:
            entries.move_to_end(key)
            self._currsize -= replaced[1]
        return True

    def _make_room(self, size: float) -> None:
        """Evict unpinned keys from the oldest on, only while `size` more does not fit.   [LRU-13, LRU-18]"""
        while self._currsize + size > self._maxsize:
            self.popitem()

    def _make_room_to_grow(self, key: K, size: float) -> tuple[V, float] | None:
        """Make room as for a new key; returns the old entry unless that was evicted.   [LRU-14, LRU-15]"""
        self._make_room(size)
        return self._entries.get(key)

    def pin(self, key: K) -> None:
        """Protect a cached key from eviction until it leaves the cache.   [LRU-19, LRU-20]

        Raises `ValueError` for a key that is not cached.
        """
        if key not in self._entries:
            raise ValueError(f"Cannot pin key {key!r}: it is not in the cache.")
        self.pinned_items.add(key)

    def __delitem__(self, key: K) -> None:
        """Remove a cached key, or raise `KeyError`.   [LRU-12, LRU-22]"""
        _, size = self._entries.pop(key)
        self._forget(key, size)

    @overload  # type: ignore[override]
    def pop(self, key: K) -> V | None: ...
    @overload
    def pop(self, key: K, default: V | T) -> V | T: ...
    def pop(self, key: K, default: Any = None) -> Any:
        """Remove a key and return its value, or the default; this is no lookup.   [LRU-11, LRU-22]"""
        entry = self._entries.pop(key, None)
        if entry is None:
            return default
        self._forget(key, entry[1])
        return entry[0]

    def remove_oldest(self, *, remove_pinned: bool = False) -> None:
        """Remove what `popitem` would remove; nothing when the cache is empty.   [LRU-23]"""
        if self._entries:
            self.popitem(remove_pinned)

    def popitem(self, remove_pinned: bool = False) -> tuple[K, V]:
        """Remove the least recent key that may go, and return it with its value.   [LRU-24, LRU-25, LRU-21]

        It takes time in proportion to the pinned keys that are less recent than the one removed.

        Raises:
            RuntimeError: when pins are respected and no unpinned key is left.
            KeyError: when pins are not respected and the cache is empty.
        """
        if remove_pinned or not self.pinned_items:
            if not self._entries and not remove_pinned:
                raise RuntimeError(_ALL_PINNED)
            key, (value, size) = self._entries.popitem(last=False)
        else:
            key = self._oldest_unpinned()
            value, size = self._entries.pop(key)
        self._forget(key, size)
        return key, value

    def _oldest_unpinned(self) -> K:
        for key in self._entries:
            if key not in self.pinned_items:
                return key
        raise RuntimeError(_ALL_PINNED)

    def _forget(self, key: K, size: float) -> None:
        """Settle the account and the pin of an entry that was just removed.   [LRU-01, LRU-22]"""
        # An empty cache weighs exactly 0, also where fractional sizes do not add up to it.
        self._currsize = self._currsize - size if self._entries else 0
        self.pinned_items.discard(key)

    def clear(self) -> None:
        """Remove every key, pinned ones too, and set the counters to zero.   [LRU-26]"""
        self._entries.clear()
        self.pinned_items.clear()
        self._currsize = 0
        self._hits = self._total = 0
        self._reported = CacheInfo(0, 0)


_ALL_PINNED = "All items are pinned, cannot remove oldest from the cache."


def _one(value: object) -> float:
    return 1


class _Values(Mapping[K, V]):
    """Read-only view: key to value."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, tuple[V, float]]) -> None:
        self._entries = entries

    def __getitem__(self, key: K) -> V:
        return self._entries[key][0]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return repr(dict(self))


class _Order(_Values[K, Any]):
    """Read-only view: key to `None`."""

    __slots__ = ()

    def __getitem__(self, key: K) -> None:
        self._entries[key]

    def __repr__(self) -> str:
        return repr(list(self))
