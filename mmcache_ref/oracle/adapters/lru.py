"""`LRUCache` of a target, driven by the operations of `model/lru.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mmcache_ref.model import lru
from mmcache_ref.oracle.adapters.base import Unexpected, need

MISSING = object()
"""The default that lookups are given."""


class LruAdapter:
    """The values are the descriptions themselves, weighed by their `nbytes`."""

    def __init__(self, namespace: Any, config: lru.Config) -> None:
        need(namespace, "LRUCache")
        self.cache = namespace.LRUCache(config.budget, getsizeof=lambda value: value.nbytes)

    def perform(self, operation: lru.Operation) -> Any:
        """One call of the cache."""
        cache = self.cache
        match operation:
            case lru.Contains(key):
                return key in cache
            case lru.Length():
                return len(cache)
            case lru.GetItem(key):
                return cache[key]
            case lru.Get(key):
                return _or_none(cache.get(key, MISSING))
            case lru.Touch(key):
                return cache.touch(key)
            case lru.Pop(key):
                return _or_none(cache.pop(key, MISSING))
            case lru.Delete(key):
                del cache[key]
                return None
            case lru.Put(key, content):
                return cache.put(key, content)
            case lru.SetItem(key, content):
                cache[key] = content
                return None
            case lru.PutIfFits(key, content):
                return cache.put_if_fits(key, content)
            case lru.Pin(key):
                return cache.pin(key)
            case lru.RemoveOldest(remove_pinned):
                cache.remove_oldest(**_given(remove_pinned=remove_pinned))
                return None
            case lru.PopItem(remove_pinned):
                return tuple(cache.popitem(**_given(remove_pinned=remove_pinned)))
            case lru.Clear():
                return cache.clear()
            case lru.Stat(delta):
                return tuple(cache.stat(**_given(delta=delta)))
            case lru.HitRatio():
                return cache.stat().hit_ratio
            case lru.Usage():
                return cache.capacity, cache.usage

    def observe(self) -> Mapping[str, Any]:
        """Counters and bytes; order, values and pins where the target shows them."""
        cache = self.cache
        info = cache.stat()
        seen: dict[str, Any] = {
            "hits": info.hits,
            "total": info.total,
            "length": len(cache),
            "bytes": cache.currsize,
        }
        order = getattr(cache, "order", None)
        if order is not None:
            seen["order"] = tuple(order)
            seen["data"] = tuple(sorted(cache.cache))
            seen["views"] = tuple(cache.cache.keys())
        pins = getattr(cache, "pinned_items", None)
        if pins is not None:
            seen["pins"] = tuple(sorted(pins))
        return seen


def _given(**flags: bool) -> dict[str, bool]:
    """The flags that are set: one that is not is left to the target's own default."""
    return {name: value for name, value in flags.items() if value}


def _or_none(found: Any) -> Any:
    """None for the default that was asked for; a None of the target's own is no default."""
    if found is MISSING:
        return None
    return Unexpected("None, not the default that was given") if found is None else found
