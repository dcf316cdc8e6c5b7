"""A value without leaves cannot be sized.   [IT-18]

A processor returns an empty list for one keyword of an item. The sizes of the leaves are summed without a
start value, so that no leaf at all is a `TypeError`, while the item is being inserted. The request fails,
although nothing is wrong with it.
"""

from __future__ import annotations

import functools
import logging
import operator
from typing import Any

from mmcache_ref.reference.sizes import MultiModalCache, leaf_size, leaves

from .fault import Fault

logger = logging.getLogger(__name__)


def sum_without_a_start(cls: type[MultiModalCache], value: Any, *, debug: bool = False) -> int:
    """The sizes of the leaves are added, the first one to the second and so on."""
    size: int = functools.reduce(operator.add, map(leaf_size, leaves(value)))
    if debug:
        complexity = cls.get_item_complexity(value)
        logger.debug("%s weighs %d bytes, complexity %d", type(value).__name__, size, complexity)
    return size


FAULT = Fault(
    name="D18",
    title="an item with a value without leaves raises while it is sized",
    replaces="reference.sizes:MultiModalCache.get_item_size",
    rule=sum_without_a_start,
    component="items",
    clauses=("IT-18",),
)
