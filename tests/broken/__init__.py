"""Broken implementations: each module breaks one rule of the reference, to measure the oracle's power.

A module is a target: it has upstream's names as attributes (those of the reference, but for what it breaks)
and a `BREAKS` that says what an oracle must find.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mmcache_ref import reference

CACHES = ("MultiModalProcessorOnlyCache", "LruKeyReplicatedSenderCache", "LruKeyReplicatedReceiverCache")


@dataclass(frozen=True)
class Breaks:
    """What is wrong with a module, and what an oracle must say of it.

    `clauses`: what may be named; the exhaustive stage must find the first. `longest`: the operations of the
    shortest run known by hand. `level`: the lowest level at which a few hundred
    examples show it. `in_tiny`: whether the graphs that the exhaustive stage walks hold such a run;
    `in_beside`: whether one of the smaller ones does, which are enough then.
    """

    component: str
    clauses: tuple[str, ...]
    longest: int
    level: int = 0
    in_tiny: bool = True
    in_beside: bool = False


def names(**replaced: Any) -> dict[str, Any]:
    """The reference's public names with some replaced; a replaced `LRUCache` is also inside the caches."""
    known = {name: getattr(reference, name) for name in reference.__all__}
    if "LRUCache" in replaced:
        known |= {name: _around(known[name], replaced["LRUCache"]) for name in CACHES}
    return known | replaced


def _around(cache_class: Any, lru_class: Any) -> Any:
    """The cache class with another LRU inside."""

    class Around(cache_class):  # type: ignore[misc]
        def __init__(self, model_config: Any) -> None:
            super().__init__(model_config)
            self._cache: Any = lru_class(self._cache.capacity, getsizeof=self._cache.getsizeof)

    return Around


@contextmanager
def for_now(objects: Sequence[Any], name: str, values: Sequence[Any]) -> Iterator[None]:
    """Inside, an attribute of each object has another value."""
    before = [getattr(each, name) for each in objects]
    try:
        for each, value in zip(objects, values, strict=True):
            setattr(each, name, value)
        yield
    finally:
        for each, value in zip(objects, before, strict=True):
            setattr(each, name, value)


def all_broken() -> dict[str, ModuleType]:
    """Every broken implementation by its module's name."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in found}
