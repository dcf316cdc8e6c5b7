"""Choices for the receiver: raw updates, and requests with and without data."""

from __future__ import annotations

from hypothesis import strategies as st

from mmcache_ref.model import receiver as model
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.draws import Draw

configs = st.builds(model.Config, common.budgets)


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """Requests about as often as everything else together."""
    role = draw.up_to(11)
    if role >= 7:
        return model.Features(features(config, state, draw))
    if role == 0 and draw.is_one_in(2):
        return model.Clear()
    key = common.key(draw, state.entries)
    if role <= 1:
        return model.Touch(key)
    if role <= 3:
        return model.Update(key)
    return model.Update(key, common.content(draw, config.budget, state.entries))


def features(config: model.Config, state: model.State, draw: Draw) -> tuple[model.Feature, ...]:
    """Up to `LONGEST_REQUEST` features, none included, with repeated hashes; in one request of four some
    features are known by their identifiers alone."""
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
