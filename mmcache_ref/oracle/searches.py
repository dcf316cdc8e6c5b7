"""Which model is searched for a seeded fault: its own rules switched off, the environment's accidents on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mmcache_ref.model import drift, key_replicated
from mmcache_ref.model.environment import ACCIDENTS, DEFAULT_PROTECTIONS
from mmcache_ref.model.explore import Property


class Search(NamedTuple):
    """A model with an environment: what may happen there, and what keeps it from doing harm."""

    model: Any
    properties: Mapping[str, Property]
    accidents: frozenset[str]
    protections: frozenset[str]


KEY_REPLICATED: Final = Search(
    key_replicated, drift.PROPERTIES, frozenset(ACCIDENTS), frozenset(DEFAULT_PROTECTIONS)
)


def search_for(fault: Any) -> Search:
    """The model that can be told to behave like the fault, if any can."""
    return KEY_REPLICATED
