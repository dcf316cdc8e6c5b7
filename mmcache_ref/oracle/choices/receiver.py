"""Choices for the receiver: raw updates, and requests with and without data."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import receiver as model
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.draws import Draw

configs = st.builds(model.Config, common.budgets)
WITHOUT_KEY: Final[tuple[Op, ...]] = (
    model.Clear(),
    model.Clear(),
    model.Fresh(common.KEYS),
    model.MissError(("hash-1",)),
    model.MissError(("hash-2", "hash-1", "hash-2")),
)


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """Requests about as often as everything else together."""
    has_just_asked = bool(draw.performed) and isinstance(draw.performed[-1], model.Features)
    if state.lapsed and draw.is_one_in(3 if has_just_asked else 8):
        return model.Update(draw.of(state.lapsed))
    role = draw.up_to(11)
    if role >= 7:
        return model.Features(features(config, state, draw))
    if role == 0:
        return draw.of(WITHOUT_KEY)
    if role == 4 and draw.is_one_in(2):
        pairs = common.contents(draw, config.budget, state.entries, 3)
        keys = tuple([key for key, _ in pairs[1 if draw.is_one_in(8) else 0 :]])
        return model.UpdateAll(tuple([None if draw.is_one_in(4) else each for _, each in pairs]), keys)
    key = common.key(draw, state.entries)
    if role <= 1:
        content = common.content(draw, config.budget, state.entries) if draw.is_one_in(4) else None
        return model.Touch(key, content)
    if role <= 3:
        return model.Update(key)
    return model.Update(key, common.content(draw, config.budget, state.entries))


def features(config: model.Config, state: model.State, draw: Draw) -> tuple[model.Feature, ...]:
    """Up to `LONGEST_REQUEST` features, none included, with repeated hashes; in one request of four some
    features are known by their identifiers alone."""
    if state.entries and draw.is_one_in(10):
        return where_touches_decide(config, state, draw)
    pairs = common.contents(draw, config.budget, state.entries, common.LONGEST_REQUEST)
    nameless = draw.is_one_in(4)
    return tuple(
        [
            model.Feature(
                key,
                content if draw.is_one_in(2) else None,
                has_mm_hash=not (nameless and draw.is_one_in(2)),
            )
            for key, content in pairs
        ]
    )


def where_touches_decide(config: model.Config, state: model.State, draw: Draw) -> tuple[model.Feature, ...]:
    """One that pushes something out, and then data that is too large for the least recent key: only the
    touch of a key that brings data says what is pushed out."""
    new = common.made(draw, 1 + draw.up_to(config.budget))
    too_large = common.made(draw, config.budget + 1)
    return model.Feature(draw.of(common.KEYS), new), model.Feature(state.entries[0][0], too_large)
