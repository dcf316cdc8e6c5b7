"""Choices for the factories: combinations of all attributes."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import factories as model
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.draws import Draw

configs = st.just(model.Config())
FUNCTIONS: Final[tuple[model.Function, ...]] = ("processor", "processor_only", "engine", "worker")
BUDGETS: Final = (model.GIB, 4 * model.GIB, 1, 1000, 3 * model.GIB // 2, 65_536, 0, -1)
TYPES: Final = ("lru", "lru", "lru", "shm", "shm", "fifo", "")


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """Any combination, but for those that would make a large segment."""
    if draw.is_one_in(20):
        return model.TAKEN
    while True:
        configuration = model.Configuration(
            draw.of(BUDGETS),
            draw.of(TYPES),
            not draw.is_one_in(6),
            draw.of((1, 1, 1, 2, 3, 0)),
            draw.of((1, 1, 2, 3)),
            draw.is_one_in(2),
            draw.of((1, 2, 8)),
            draw.of((0, 1000, model.MIB // 2, 128 * model.MIB)),
        )
        operation = model.Make(draw.of(FUNCTIONS), configuration, draw.is_one_in(2))
        if not model.needs_large_segment(operation):
            return operation
