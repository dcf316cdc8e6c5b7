"""Cached entries as a tuple of (key, content), least recent first: the moves every cache is made of."""

from __future__ import annotations

from functools import lru_cache

from .component import Content

Entry = tuple[str, Content]
Entries = tuple[Entry, ...]


def find(entries: Entries, key: str) -> Content | None:
    """The content under `key`, or None."""
    for name, content in entries:
        if name == key:
            return content
    return None


def size(entries: Entries) -> int:
    """Bytes in use.   [LRU-01]"""
    total = 0
    for _, content in entries:
        total += content.nbytes
    return total


def keys(entries: Entries) -> tuple[str, ...]:
    """The keys in eviction order.   [LRU-02]"""
    return tuple([name for name, _ in entries])


def remove(entries: Entries, key: str) -> Entries:
    """The entries without `key`; the very same tuple when it is not cached."""
    for index, (name, _) in enumerate(entries):
        if name == key:
            return entries[:index] + entries[index + 1 :]
    return entries


def touch(entries: Entries, key: str) -> Entries:
    """`key` as the most recent; the very same tuple when it is not cached.   [LRU-09, LRU-10]"""
    for index, entry in enumerate(entries):
        if entry[0] == key:
            return (*entries[:index], *entries[index + 1 :], entry)
    return entries


def put(entries: Entries, budget: int, key: str, content: Content) -> Entries:
    """Insert a key that is not cached; the very same tuple when it is too large.   [LRU-13, LRU-16]"""
    if content.nbytes > budget:
        return entries
    used = size(entries)
    start = 0
    while used + content.nbytes > budget:
        used -= entries[start][1].nbytes
        start += 1
    return (*entries[start:], (key, content))


@lru_cache(1 << 17)  # a search asks of the same entries in many states
def is_sound(budget: int, entries: Entries) -> bool:
    """The sizes fit the budget and no key is there twice.   [LRU-01, DR-11]"""
    keys = [key for key, _ in entries]
    return sum([content.nbytes for _, content in entries]) <= budget and len(set(keys)) == len(keys)
