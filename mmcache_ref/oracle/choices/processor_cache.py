"""Choices for the caches of P0: raw calls and merge steps."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import processor_cache as model
from mmcache_ref.model.component import Op
from mmcache_ref.model.entries import find
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.draws import Draw

configs = st.builds(model.Config, common.budgets)

WITHOUT_KEY: Final[tuple[Op, ...]] = (
    model.Release(),
    model.Release(),
    model.Clear(),
    model.Stats(),
    model.Stats(delta=True),
    model.IsCached(common.KEYS),
    model.Close(),
    model.Defaults(),
    model.Fresh(common.KEYS),
    model.TooLarge(2),
)


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """Updates and merge steps most of all.

    Where a promise was evicted, one of three operations asks for it: few others would.
    """
    evicted = [key for key, _ in state.promised if find(state.entries, key) is None]
    if evicted and draw.is_one_in(3):
        key = draw.of(evicted)
        return end_of_promise(config, key, draw) if draw.is_one_in(3) else model.Update(key)
    if state.lapsed and has_just_lapsed(state, draw) and draw.is_one_in(2):
        return model.Update(draw.of(state.lapsed))
    if state.promised and draw.is_one_in(4):
        if draw.is_one_in(3):
            return end_of_promise(config, draw.of(state.promised)[0], draw)
        # What pushes out something that was promised.
        return model.Update(draw.of(common.KEYS), common.content(draw, config.budget, state.entries))
    cached = [key for key, _ in state.entries]
    gone = [*state.lapsed, *(key for key in draw.recent_keys() if key in common.KEYS and key not in cached)]
    if gone and draw.is_one_in(8):
        return model.Update(draw.of(gone))
    role = draw.up_to(11)
    if role == 0:
        return draw.of(WITHOUT_KEY)
    if role <= 2:
        return model.Touch(common.key(draw, state.entries))
    if role == 3:
        key = common.key(draw, state.entries)
        if draw.is_one_in(6):
            return model.Validate(key, common.content(draw, config.budget, state.entries))
        return model.Invalidate(key)
    if role == 4:
        return model.Update(common.key(draw, state.entries))
    if role <= 7:
        key = common.key(draw, state.entries)
        return model.Update(key, common.content(draw, config.budget, state.entries))
    if role == 8:
        return update_all(config, state, draw)
    return (
        failing_merge(config, state, draw) if draw.is_one_in(8) else model.Merge(request(config, state, draw))
    )


def has_just_lapsed(state: model.State, draw: Draw) -> bool:
    """Did the last operation end a promise?"""
    last = draw.performed[-1] if draw.performed else None
    is_end = isinstance(last, model.Clear | model.Release) or bool(getattr(last, "stale", ()))
    return is_end or getattr(last, "key", None) in state.lapsed


def end_of_promise(config: model.Config, key: str, draw: Draw) -> Op:
    """What a promise must not outlive: new data, perhaps too large, an invalidation, a clear, the release."""
    return draw.of(
        (
            model.Update(key, common.made(draw, draw.up_to(config.budget))),
            model.Update(key, common.made(draw, config.budget + 1)),
            model.Invalidate(key),
            model.Clear(),
            model.Release(),
        )
    )


def request(config: model.Config, state: model.State, draw: Draw) -> tuple[model.Item, ...]:
    """Up to `LONGEST_REQUEST` items, none included, with repeated hashes and sometimes two modalities."""
    pairs = common.contents(draw, config.budget, state.entries, common.LONGEST_REQUEST)
    videos = 3 if draw.is_one_in(3) else 0
    return tuple(
        [
            model.Item(key, content, "video" if videos and draw.is_one_in(videos) else "image")
            for key, content in pairs
        ]
    )


def failing_merge(config: model.Config, state: model.State, draw: Draw) -> model.Merge:
    """A merge step that lacks something, or with a key that is gone since the check; in one of two cases the
    last one, after what is cached and something that pushes it out: what was promised ends there."""
    if draw.is_one_in(4):
        return model.Merge(request(config, state, draw), withheld=draw.of(("item", "updates")))
    absent = [key for key in common.KEYS if find(state.entries, key) is None]
    if len(absent) < 2 or draw.is_one_in(2):
        members = request(config, state, draw)
        return model.Merge(members, stale=(draw.of(members).key,) if members else ())
    first = draw.of(absent)
    gone = draw.of([key for key in absent if key != first])
    cached = [model.Item(key, content) for key, content in state.entries[: 1 + draw.up_to(1)]]
    new = model.Item(first, common.content(draw, config.budget, state.entries))
    return model.Merge((*cached, new, model.Item(gone, common.made(draw, 1))), stale=(gone,))


def update_all(config: model.Config, state: model.State, draw: Draw) -> model.UpdateAll:
    """`get_and_update` of a few, one in eight times with fewer hashes than items."""
    pairs = common.contents(draw, config.budget, state.entries, 3)
    keys = tuple([key for key, _ in pairs[1 if draw.is_one_in(8) else 0 :]])
    return model.UpdateAll(tuple([None if draw.is_one_in(3) else content for _, content in pairs]), keys)
