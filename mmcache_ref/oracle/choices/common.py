"""Keys, contents, budgets and ids that are worth choosing in a state of a cache."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import entries as moves
from mmcache_ref.model.component import Content
from mmcache_ref.model.entries import Entries
from mmcache_ref.model.shm_store import ID_MAX
from mmcache_ref.oracle.draws import Draw

KEYS: Final = ("a", "b", "c", "d", "e")
LARGEST_BUDGET: Final = 12
"""Bytes. Small, so that a few insertions already evict."""
LONGEST_REQUEST: Final = 5
FILLS: Final = (1, 2, 3)
FIRST_IDS: Final = (0, 0, 0, 0, 0, (1 << 8) - 3, (1 << 16) - 3, ID_MAX - 3)
"""Ids of a ring begin with one of these: most often 0, or a few before one byte, two, or all are used up."""

budgets = st.sampled_from((4, 6, 10, 0, 1, 2, 3, LARGEST_BUDGET))


def key(draw: Draw, entries: Entries) -> str:
    """A key: any, a cached one, the next victim, or one that the last operations named and that is gone."""
    role = draw.up_to(9)
    if entries and role <= 2:
        return draw.of(entries)[0]
    if entries and role == 3:
        return entries[0][0]
    if role <= 6:
        cached = moves.keys(entries)
        gone = [each for each in draw.recent_keys() if each in KEYS and each not in cached]
        if gone:
            return draw.of(gone)
    return draw.of(KEYS)


def content(draw: Draw, budget: int, entries: Entries) -> Content:
    """A content of a size at an edge: of the budget, of what is free, of what the next eviction frees."""
    role = draw.up_to(9)
    free = budget - moves.size(entries)
    if role <= 3:
        nbytes = draw.of((1, 1, 2, max(1, budget // 3), budget // 2))
    elif role <= 5:
        nbytes = budget - 1 + draw.up_to(2)
    elif role <= 7:
        oldest = entries[0][1].nbytes if entries else 0
        nbytes = draw.of((free, free + 1, free + oldest, free + oldest + 1))
    elif role == 8:
        nbytes = 0
    else:
        nbytes = draw.up_to(budget + 1)
    return made(draw, min(max(0, nbytes), budget + 1))


def made(draw: Draw, nbytes: int) -> Content:
    """A content of this size; an item without bytes has nothing to fill."""
    return Content(nbytes, draw.of(FILLS) if nbytes else 0)


def contents(draw: Draw, budget: int, entries: Entries, most: int) -> list[tuple[str, Content]]:
    """Keys with contents, up to `most`; a key of the last operations, or of this very list, comes again."""
    chosen: list[tuple[str, Content]] = []
    for _ in range(draw.up_to(most)):
        again = chosen and draw.is_one_in(4)
        name = draw.of(chosen)[0] if again else key(draw, entries)
        chosen.append((name, content(draw, budget, entries)))
    return chosen
