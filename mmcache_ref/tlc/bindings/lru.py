"""`model/lru.py` and `Lru.tla`."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import lru
from mmcache_ref.model.component import Outcome
from mmcache_ref.tlc.bindings.base import Binding, described

ACTIONS: Final = (
    lru.Contains,
    lru.GetItem,
    lru.Get,
    lru.Touch,
    lru.Pop,
    lru.Delete,
    lru.Put,
    lru.PutIfFits,
    lru.Pin,
    lru.RemoveOldest,
    lru.PopItem,
    lru.Clear,
)
"""`c[key] = value` is Put. Left out are counters, views, and `setdefault` and `update`: made of these."""


def is_action(operation: lru.Operation) -> bool:
    """One spelling of each call."""
    return isinstance(operation, ACTIONS) and getattr(operation, "has_default", True)


def state(config: lru.Config, state: lru.State) -> Any:
    """`<<entries, pins>>`"""
    entries = tuple({"key": key, "size": content.nbytes} for key, content in state.entries)
    return entries, frozenset(state.pins)


def call(operation: lru.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    match operation:
        case lru.Put(key, content) | lru.PutIfFits(key, content):
            return described(operation, outcome, key=key, nbytes=content.nbytes)
        case lru.RemoveOldest(remove_pinned) | lru.PopItem(remove_pinned):
            return described(operation, outcome, remove_pinned=remove_pinned)
        case lru.Clear():
            return described(operation, outcome)
    return described(operation, outcome, key=operation.key)  # type: ignore[union-attr]


LRU: Final = Binding(lru, state, call, is_action, names=("entries", "pins"))
