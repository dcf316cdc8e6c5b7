"""The processor-only cache.   [spec/03-processor-only.md]"""

from __future__ import annotations

from . import processor_cache
from .component import Outcome
from .processor_cache import PRESETS, Config, Operation, State, bare, observe, operations, plainer, view

__all__ = [
    "ASPECTS",
    "CULPRITS",
    "NAME",
    "PRESETS",
    "PROPERTIES",
    "RULES",
    "Config",
    "Operation",
    "State",
    "bare",
    "initial",
    "observe",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "processor-only"
KIND = processor_cache.Kind(keeps_payload=True, drops_on_invalidate=False)
RULES = processor_cache.rules(
    {
        "hit": "PO-01",
        "stored": "PO-02",
        "evicted": "PO-02",
        "too_large": "PO-04",
        "asserted": "PO-03",
        "lapsed": "PO-08",
        "promised": "PO-07",
        "stats": "PO-06",
    }
)
ASPECTS = processor_cache.aspects("PO-05")
CULPRITS = processor_cache.culprits("PO-06")
PROPERTIES = processor_cache.properties("PO-07")


def initial(config: Config) -> State:
    """An empty cache."""
    return State()


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API; an entry keeps the item and is charged its size.   [PO-05, PO-08]"""
    return processor_cache.step(KIND, config, state, operation)
