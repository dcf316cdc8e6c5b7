"""Trials of the LRU with a class of a test's own, which then is also inside the caches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from broken import names

from mmcache_ref import reference
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace


def lru_trial(lru_class: Any = reference.LRUCache, **options: Any) -> Trial:
    """The component `lru` of the reference with this class."""
    namespace = Namespace(SimpleNamespace(**names(LRUCache=lru_class)), "test")
    return Trial(COMPONENTS["lru"], namespace, **options)
