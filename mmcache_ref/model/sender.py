"""The sender of the key-replicated pair, alone.   [spec/04-key-replicated.md]"""

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

NAME = "sender"
KIND = processor_cache.Kind(keeps_payload=False, drops_on_invalidate=True)
RULES = processor_cache.rules(
    {
        "hit": "KR-02",
        "stored": "KR-03",
        "evicted": "KR-03",
        "too_large": "KR-05",
        "asserted": "KR-04",
        "lapsed": "KR-15",
        "promised": "KR-13",
        "invalidated": "KR-06",
        "stats": "KR-07",
    }
)
ASPECTS = processor_cache.aspects("KR-01")
CULPRITS = processor_cache.culprits("KR-07")
PROPERTIES = processor_cache.properties("KR-13")


def initial(config: Config) -> State:
    """An empty cache.   [IF-19]"""
    return State()


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One call of the API; an entry is a size and prompt updates.   [KR-01, KR-15]"""
    return processor_cache.step(KIND, config, state, operation)
