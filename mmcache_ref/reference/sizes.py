"""What values weigh in a cache, and what the two processor caches keep of an item."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from .features import ResolvedPromptUpdate
from .fields import MultiModalFieldElem
from .items import MultiModalKwargsItem, MultiModalKwargsItems
from .tensors import content_attribute, is_payload, nbytes

if TYPE_CHECKING:
    from .lru import LRUCache

logger = logging.getLogger(__name__)

GIB: Final = 2**30
"""Bytes in a gibibyte."""


class MultiModalProcessorCacheItem:
    """What a processor-only cache keeps: the item and its prompt updates.   [IT-15]"""

    def __init__(self, item: MultiModalKwargsItem, prompt_updates: Sequence[ResolvedPromptUpdate]) -> None:
        self.item = item
        self.prompt_updates = prompt_updates


class MultiModalProcessorCacheItemMetadata:
    """What a sender cache keeps: the size of the item, in bytes, and its prompt updates.   [IT-15]"""

    def __init__(self, item: MultiModalKwargsItem, prompt_updates: Sequence[ResolvedPromptUpdate]) -> None:
        self.item_size = MultiModalCache.get_item_size(item)
        self.prompt_updates = prompt_updates


MultiModalCacheValue: TypeAlias = (
    MultiModalProcessorCacheItem
    | MultiModalProcessorCacheItemMetadata
    | MultiModalKwargsItems[Any]
    | MultiModalKwargsItem
)
"""What a cache may hold."""

_V = TypeVar("_V")

_PLAIN_LEAVES: Final = frozenset({int, float, str, bytes, bool, type(None)})
_HOLDERS: Final[frozenset[type]] = frozenset(
    {MultiModalFieldElem, MultiModalKwargsItem, MultiModalKwargsItems}
)


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of a nested value, in no particular order.   [IT-12]

    Entered are `dict`, `list`, `tuple`, and what `content_attribute` recognises. The metadata that a sender
    cache keeps is one leaf.
    """
    pending: list[Any] = [value]
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in _PLAIN_LEAVES:
            yield value
        elif kind in _HOLDERS:
            pending.append(value.data)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            pending.extend(value)
        elif is_payload(value) or (attribute := content_attribute(value)) is None:
            yield value
        else:
            pending.append(getattr(value, attribute))


def leaf_size(leaf: Any) -> int:
    """What one leaf weighs, in bytes.   [IT-13, IT-14, IT-15, IT-19]"""
    if type(leaf) in _PLAIN_LEAVES:
        return sys.getsizeof(leaf)
    if is_payload(leaf):
        return nbytes(leaf)
    if hasattr(leaf, "prompt_updates") and hasattr(leaf, "item_size"):
        return int(leaf.item_size)
    return sys.getsizeof(leaf)


class MultiModalCache:
    """Sizes of values, and caches with a budget in bytes."""

    @classmethod
    def get_leaf_size(cls, leaf: object) -> int:
        """What a leaf weighs, in bytes.   [IT-12, IT-13, IT-14]

        A value that can be entered is no leaf, and weighs what its leaves weigh.
        """
        return cls.get_item_size(leaf)

    @classmethod
    def get_item_size(cls, value: object, *, debug: bool = False) -> int:
        """The sum of the sizes of the leaves, in bytes.   [IT-12, IT-15, IT-18, IT-21]

        With `debug` the size and the complexity are also logged, at level DEBUG.
        """
        if type(value) is MultiModalProcessorCacheItemMetadata:
            size = value.item_size
        else:
            size = sum(map(leaf_size, leaves(value)))
        if debug:
            complexity = cls.get_item_complexity(value)
            logger.debug("%s weighs %d bytes, complexity %d", type(value).__name__, size, complexity)
        return size

    @classmethod
    def get_item_complexity(cls, value: object) -> int:
        """The number of values inside dicts, lists and tuples; anything else is one.   [IT-16]"""
        if isinstance(value, dict):
            return sum(map(cls.get_item_complexity, value.values()))
        if isinstance(value, list | tuple):
            return sum(map(cls.get_item_complexity, value))
        return 1

    @classmethod
    def get_lru_cache(
        cls, capacity_gb: float, value_type: type[_V], *, debug: bool = False
    ) -> LRUCache[str, _V]:
        """An empty LRU with a budget of `capacity_gb` GiB, which may be a fraction.   [IT-17]"""
        from .lru import LRUCache

        return LRUCache(capacity_gb * GIB, getsizeof=functools.partial(cls.get_item_size, debug=debug))
