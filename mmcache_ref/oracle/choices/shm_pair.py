"""Choices for the shared-memory caches, call by call: updates, reads, and what clients show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import shm_pair_alphabet as operations
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.shm_pair_alphabet import Feature
from mmcache_ref.model.shm_pair_state import KEPT, Config, State
from mmcache_ref.oracle.choices.common import FIRST_IDS
from mmcache_ref.oracle.draws import Draw

KEYS: Final = ("a", "b", "c", "d", "e")
FILLS: Final = (1, 2, 3, 4)
LONGEST_REQUEST: Final = 4
_sizes = st.sampled_from(((2, 2), (3, 2), (4, 3), (1, 1), (5, 2), (2, 3), (4, 5), (12, 3)))
"""Capacity and limit in units: rings of one chunk to a dozen, limits below, at and above the capacity."""
configs = st.builds(
    lambda size, workers, first_id: Config(size[0], size[1], workers, first_id=first_id),
    _sizes,
    st.sampled_from((1, 1, 2, 3)),
    st.sampled_from(FIRST_IDS),
)


def choose(config: Config, state: State, draw: Draw) -> Op:
    """Updates and reads about as often as everything else together."""
    role = draw.up_to(19)
    if role <= 5:
        return operations.Update(_key(state, draw), None if draw.is_one_in(3) else content(config, draw))
    if role <= 10:
        return operations.Receive(feature(config, state, draw), _worker(config, draw))
    if role <= 13:
        chosen = tuple([feature(config, state, draw) for _ in range(draw.up_to(LONGEST_REQUEST))])
        if draw.is_one_in(4):
            return operations.ReceiveAll(chosen, _worker(config, draw), draw.is_one_in(6))
        return operations.Features(chosen, _worker(config, draw))
    if role <= 15:
        return _of_a_client(config, state, draw)
    return _rest(config, state, draw)


def _rest(config: Config, state: State, draw: Draw) -> Op:
    """What is called beside updates and reads; what makes segments of its own now and then only."""
    key = _key(state, draw)
    if draw.is_one_in(12):
        rare: list[Callable[[], Op]] = [
            operations.CloseAnother,
            lambda: operations.Attach("segment"),
            lambda: operations.Attach("lock"),
            lambda: operations.Fresh(KEYS[:2]),
            lambda: operations.TooLarge(1 + draw.up_to(2)),
        ]
        return draw.of(rare)()
    usual: list[Callable[[], Op]] = [
        lambda: operations.Touch(key),
        lambda: operations.Touch(key),
        lambda: operations.Touch(key),
        operations.Release,
        lambda: operations.IsCached((key, draw.of(KEYS))),
        lambda: operations.Stats(draw.is_one_in(2)),
        operations.Clear,
        lambda: operations.Invalidate(key),
        lambda: operations.ClearReceiver(_worker(config, draw)),
        lambda: _update_all(config, state, draw),
        lambda: operations.Verify(feature(config, state, draw), _worker(config, draw)),
        lambda: operations.Verify(feature(config, state, draw), _worker(config, draw)),
    ]
    return draw.of(usual)()


def _update_all(config: Config, state: State, draw: Draw) -> Op:
    """A list of updates, now and then with a hash too few."""
    keys = [_key(state, draw) for _ in range(1 + draw.up_to(2))]
    contents = tuple([None if draw.is_one_in(4) else content(config, draw) for _ in keys])
    return operations.UpdateAll(contents, tuple(keys[1 if draw.is_one_in(6) else 0 :]))


def _of_a_client(config: Config, state: State, draw: Draw) -> Op:
    """A client shows what it has seen, or made of it."""
    key = draw.of(state.issued).key if state.issued else draw.of(KEYS)
    if draw.is_one_in(3):
        return operations.Validate(key, draw.up_to(KEPT - 1), draw.is_one_in(6))
    if draw.is_one_in(8):
        return operations.Odd(key, draw.of(operations.UNUSUAL))
    return operations.Forge(key, draw.of(operations.FORMS), draw.of(operations.CALLS))


def feature(config: Config, state: State, draw: Draw) -> Feature:
    """Most often a handle that was issued; an item, nothing, or a forged handle."""
    key = draw.of(state.issued).key if state.issued and not draw.is_one_in(8) else draw.of(KEYS)
    has_mm_hash = not draw.is_one_in(6)
    if not draw.is_one_in(4):
        return Feature(key, back=int(draw.is_one_in(4)), has_mm_hash=has_mm_hash)
    source = draw.of(operations.SOURCES)
    if source == "item":
        return Feature(key, "item", content=content(config, draw), has_mm_hash=has_mm_hash)
    return Feature(key, source, has_mm_hash=has_mm_hash)


def content(config: Config, draw: Draw) -> Content:
    """Mostly small; now and then as large as may be, or one unit more."""
    largest = min(config.limit, config.capacity)
    units = draw.of((1, 1, 1, largest, max(1, config.capacity - largest), largest + 1))
    return Content(units, draw.of(FILLS))


def _worker(config: Config, draw: Draw) -> int:
    return draw.up_to(config.workers - 1)


def _key(state: State, draw: Draw) -> str:
    """A key: a stored one, one that is gone, or any."""
    stored = [entry.key for entry in state.store.entries]
    role = draw.up_to(9)
    if stored and role <= 3:
        return draw.of(stored)
    if role <= 5 and (gone := [each.key for each in state.issued if each.key not in stored]):
        return draw.of(gone)
    return draw.of(KEYS)
