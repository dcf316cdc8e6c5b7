"""`LRUCache` of a target, driven by the operations of `model/lru.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.adapters.base import Unexpected, counted, need, read, same
from mmcache_ref.oracle.adapters.common_calls import counters
from mmcache_ref.oracle.errors import NotOffered

MISSING = object()
"""The default that lookups are given."""


class LruAdapter:
    """The values are the descriptions themselves, weighed by their `nbytes`."""

    def __init__(self, namespace: Any, config: lru.Config) -> None:
        need(namespace, "LRUCache")
        self._make: Callable[[], Any] = lambda: namespace.LRUCache(
            config.budget, getsizeof=lambda value: value.nbytes
        )
        self.cache = self._make()

    def perform(self, operation: lru.Operation) -> Any:
        """One call of the cache; of what it returns only what a clause speaks of."""
        cache = self.cache
        match operation:
            case lru.Contains(key):
                return key in cache
            case lru.Length():
                return len(cache)
            case lru.GetItem(key):
                return cache[key]
            case lru.Get(key, has_default):
                return _or_none(cache.get(key, MISSING)) if has_default else cache.get(key)
            case lru.Touch(key):
                cache.touch(key)
                return None
            case lru.Pop(key, has_default):
                return _or_none(cache.pop(key, MISSING)) if has_default else cache.pop(key)
            case lru.Delete(key):
                del cache[key]
                return None
            case lru.Put(key, content):
                cache.put(key, content)
                return None
            case lru.SetItem(key, content):
                cache[key] = content
                return None
            case lru.PutIfFits(key, content):
                return cache.put_if_fits(key, content)
            case lru.SetDefault(key, content):
                return cache.setdefault(key, content)
            case lru.UpdateWith(pairs):
                cache.update(list(pairs))
                return None
            case lru.Pin(key):
                cache.pin(key)
                return None
            case lru.RemoveOldest(remove_pinned):
                cache.remove_oldest(**_given(remove_pinned=remove_pinned))
                return None
            case lru.PopItem(remove_pinned):
                return tuple(cache.popitem(**_given(remove_pinned=remove_pinned)))
            case lru.Clear():
                cache.clear()
                return None
            case lru.Stat(delta):
                return counted(cache.stat(**_given(delta=delta)))
            case lru.HitRatio():
                return cache.stat().hit_ratio
            case lru.Usage():
                return cache.capacity, cache.maxsize, cache.usage
            case lru.Keys():
                return tuple(sorted(cache))
            case lru.View(key):
                if not (hasattr(cache, "cache") and hasattr(cache, "order")):
                    raise NotOffered("the target has no views")
                is_cached = key in cache.cache
                shown = cache.cache[key] if is_cached else None
                return is_cached, key in cache.order, shown, len(cache.cache), len(cache.order)
            case lru.Pairs(pairs):
                another = self._make()
                another.update(list(pairs))
                return tuple(sorted(another.values())), tuple(sorted(another.items()))
            case lru.Fresh():
                return self._fresh()

    def _fresh(self) -> tuple[int, ...]:
        """Entries or pins, whichever are more, and counters of a cache made after another had some."""
        used = self._make()
        with contextlib.suppress(Exception):
            used.put("used", Content(0))
            used.pin("used")
        another = self._make()
        pins = getattr(another, "pinned_items", ())
        return max(len(another), len(pins)), *another.stat()

    def also_decided_by(self, operation: lru.Operation) -> list[str]:
        """What `blamed` may name besides what decides the operation."""
        return ["IF-19"] if isinstance(operation, lru.Fresh) else []

    def blamed(self, operation: lru.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """Where the view shows another value than a lookup finds, it is the view; entries of a new cache."""
        if isinstance(operation, lru.Fresh) and isinstance(actual, tuple) and actual[0] != 0:
            return "IF-19"
        if aspect == "values" and isinstance(actual, tuple) and len(actual) == len(expected):
            for mine, theirs in zip(expected, actual, strict=True):
                if not same(mine, theirs):
                    return "LRU-29" if same(mine[1], self.cache.get(mine[0])) else None
        return None

    def observe(self) -> Mapping[str, Any]:
        """Counters and bytes; order, values and pins where the target shows them."""
        cache = self.cache
        seen: dict[str, Any] = {"length": read(lambda: len(cache)), "bytes": read(lambda: cache.currsize)}
        seen |= counters(lambda: cache.stat())
        if hasattr(cache, "order"):
            seen["order"] = read(lambda: tuple(cache.order))
            seen["data"] = read(lambda: tuple(sorted(cache.cache)))
            seen["views"] = read(lambda: tuple(cache.cache.keys()))
            seen["values"] = read(lambda: tuple(cache.cache.items()))
        if hasattr(cache, "pinned_items"):
            seen["pins"] = read(lambda: tuple(sorted(cache.pinned_items)))
        return seen


def _given(**flags: bool) -> dict[str, bool]:
    """The flags that are set: one that is not is left to the target's own default."""
    return {name: value for name, value in flags.items() if value}


def _or_none(found: Any) -> Any:
    """None for the default that was asked for; a None of the target's own is no default."""
    if found is MISSING:
        return None
    return Unexpected("None, not the default that was given") if found is None else found
