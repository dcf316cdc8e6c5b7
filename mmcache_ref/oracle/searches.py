"""Which model is searched for a seeded fault: its own rules switched off, the environment's accidents on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mmcache_ref.model import (
    drift,
    environment,
    key_replicated,
    publication_environment,
    publication_properties,
    ring_publication,
    shm_caches,
    shm_environment,
    shm_properties,
)
from mmcache_ref.model.explore import Property


class Search(NamedTuple):
    """A model with an environment: what may happen there, and what keeps it from doing harm."""

    model: Any
    properties: Mapping[str, Property]
    accidents: frozenset[str]
    protections: frozenset[str]


KEY_REPLICATED: Final = Search(
    key_replicated, drift.PROPERTIES, frozenset(environment.ACCIDENTS), environment.DEFAULT_PROTECTIONS
)
SHM_CACHES: Final = Search(
    shm_caches,
    shm_properties.PROPERTIES,
    frozenset(shm_environment.ACCIDENTS),
    shm_environment.DEFAULT_PROTECTIONS,
)
RING_PUBLICATION: Final = Search(
    ring_publication,
    publication_properties.PROPERTIES,
    frozenset(publication_environment.ACCIDENTS),
    publication_environment.DEFAULT_PROTECTIONS,
)
OF_COMPONENTS: Final = {
    "ring-buffer": RING_PUBLICATION,
    "object-store": RING_PUBLICATION,
    "shm-caches": SHM_CACHES,
}
"""The model that can have the faults of a component, where it is not that of the pair."""


def search_for(fault: Any) -> Search:
    """The model that can be told to behave like the fault, if any can."""
    return OF_COMPONENTS.get(fault.component, KEY_REPLICATED)
