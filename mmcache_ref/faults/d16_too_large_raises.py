"""An item larger than the cache stops the engine.   [KR-05, PO-04, KR-09, IF-03]

The largest image a model takes is larger than the cache that was configured. At start-up the engine profiles
itself with such an image; "value too large" escapes from the insertion, and the server does not start. Such
an item has to be served uncached on both sides, and smaller ones go on being cached.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.reference.base import BaseMultiModalCache
from mmcache_ref.reference.lru import LRUCache

from .fault import Fault


def insert_whatever_it_weighs(
    self: BaseMultiModalCache[Any, Any], cache: LRUCache[str, Any], key: str, value: Any
) -> bool:
    """The error of a value that is too large is the caller's."""
    cache.put(key, value)
    return True


FAULT = Fault(
    name="D16",
    title="an item larger than the cache raises instead of being served uncached",
    replaces="reference.base:BaseMultiModalCache.cache_if_fits",
    rule=insert_whatever_it_weighs,
    component="sender",
    clauses=("KR-05", "PO-04", "KR-09", "IF-03"),
    upstream=("#52835", "#53016"),
)
