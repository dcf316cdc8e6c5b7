"""Choices for the byte-budgeted LRU."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import lru
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.draws import Draw

configs = st.builds(lru.Config, common.budgets)

WITHOUT_KEY: Final[tuple[Op, ...]] = (
    lru.Length(),
    lru.Usage(),
    lru.Keys(),
    lru.Fresh(),
    lru.HitRatio(),
    lru.Clear(),
    lru.Stat(),
    lru.Stat(delta=True),
    lru.Stat(delta=True),
    lru.RemoveOldest(),
    lru.RemoveOldest(remove_pinned=True),
    lru.PopItem(),
    lru.PopItem(remove_pinned=True),
)
BY_KEY: Final = (
    lru.Contains,
    lru.View,
    lru.GetItem,
    lru.Get,
    lru.Get,
    lru.Touch,
    lru.Touch,
    lru.Pop,
    lru.Delete,
    lru.Pin,
    lru.Pin,
)
STORING: Final = (lru.Put, lru.Put, lru.SetItem, lru.PutIfFits, lru.SetDefault)


def choose(config: lru.Config, state: lru.State, draw: Draw) -> Op:
    """Insertions about as often as everything else together."""
    role = draw.up_to(9)
    if role <= 1:
        return draw.of(WITHOUT_KEY)
    key = common.key(draw, state.entries)
    if role <= 4:
        return draw.of(BY_KEY)(key)
    if role == 5:
        if draw.is_one_in(2):
            return draw.of((lru.Get, lru.Pop))(key, has_default=False)
        return draw.of((lru.UpdateWith, lru.Pairs))(
            tuple(common.contents(draw, config.budget, state.entries, 3))
        )
    return draw.of(STORING)(key, common.content(draw, config.budget, state.entries))
