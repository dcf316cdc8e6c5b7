"""What fuzzing draws from: configurations and operations, biased towards the edges of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mmcache_ref.model import (
    accidents,
    environment,
    factories,
    items,
    key_replicated,
    lru,
    pair,
    processor_cache,
    receiver,
)
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.entries import find

KEYS = ("a", "b", "c", "d", "e")
LARGEST_BUDGET = 12
"""Bytes. Small, so that a few insertions already evict."""
LONGEST_REQUEST = 5
DEPTH = 3
"""Requests under way at once."""

budgets = st.sampled_from((4, 6, 10, 0, 1, 2, 3, LARGEST_BUDGET))


@lru_cache(maxsize=64)
def contents(budget: int) -> tuple[Content, ...]:
    """Contents of sizes from 0 to just above the budget: a third, a half, all of it, one below, one above.

    Small sizes come first, which is what shrinking prefers, and sizes at the edge twice.
    """
    sizes = {0, 1, 2, max(1, budget // 3), budget // 2, max(0, budget - 1), budget, budget + 1}
    edges = (max(0, budget - 1), budget, budget + 1)
    # An item without bytes has nothing to fill.
    return tuple(Content(size, fill if size else 0) for fill in (1, 2) for size in (*sorted(sizes), *edges))


def weighted(*groups: tuple[int, Sequence[Op]]) -> SearchStrategy[Any]:
    """One draw from all groups together, each member as many times as the number beside its group."""
    return st.sampled_from([member for times, members in groups for member in list(members) * times])


lru_configs = st.builds(lru.Config, budgets)


@lru_cache(maxsize=64)
def _lru_operations(budget: int) -> SearchStrategy[Op]:
    sizes = contents(budget)
    return weighted(
        (4, (lru.Length(), lru.Usage(), lru.HitRatio(), lru.Clear(), lru.Stat(), lru.Stat(delta=True))),
        (8, [made(flag) for flag in (False, True) for made in (lru.RemoveOldest, lru.PopItem)]),
        (
            4,
            [made(key) for key in KEYS for made in (lru.Contains, lru.GetItem, lru.Pop, lru.Delete, lru.Pin)],
        ),
        (8, [made(key) for key in KEYS for made in (lru.Get, lru.Touch)]),
        (1, [lru.SetItem(key, content) for key in KEYS for content in sizes]),
        (1, [lru.PutIfFits(key, content) for key in KEYS for content in sizes]),
        (2, [lru.Put(key, content) for key in KEYS for content in sizes]),
    )


def lru_operations(config: lru.Config, state: lru.State) -> SearchStrategy[Op]:
    """Insertions about as often as everything else together."""
    return _lru_operations(config.budget)


processor_cache_configs = st.builds(processor_cache.Config, budgets)


@lru_cache(maxsize=64)
def requests(budget: int) -> SearchStrategy[tuple[processor_cache.Item, ...]]:
    """Requests of up to `LONGEST_REQUEST` items, with repeated hashes and two modalities."""
    images = [processor_cache.Item(key, content) for key in KEYS for content in contents(budget)]
    videos = [processor_cache.Item(key, content, "video") for key in KEYS for content in contents(budget)[:6]]
    return st.lists(st.sampled_from(images + videos), max_size=LONGEST_REQUEST).map(tuple)


@lru_cache(maxsize=64)
def _processor_cache_operations(budget: int) -> SearchStrategy[Op]:
    sizes = contents(budget)
    pairs = [(key, content) for key in KEYS for content in (None, *sizes)]
    simple = weighted(
        (8, (processor_cache.Release(), processor_cache.Clear())),
        (8, (processor_cache.Stats(), processor_cache.Stats(delta=True), processor_cache.IsCached(KEYS))),
        (8, [processor_cache.Invalidate(key) for key in KEYS]),
        (16, [processor_cache.Touch(key) for key in KEYS]),
        (16, [processor_cache.Update(key) for key in KEYS]),
        (1, [processor_cache.Update(key, content) for key in KEYS for content in sizes]),
    )
    several = st.lists(st.sampled_from(pairs), min_size=1, max_size=3)
    return st.one_of(
        simple,
        simple,
        requests(budget).map(processor_cache.Merge),
        st.builds(_update_all, several, st.sampled_from((0, 0, 0, 1))),
    )


def _update_all(pairs: list[tuple[str, Content | None]], shorter: int) -> processor_cache.UpdateAll:
    """`get_and_update` of these, with `shorter` fewer hashes than items."""
    keys = tuple([key for key, _ in pairs[shorter:]])
    return processor_cache.UpdateAll(tuple([content for _, content in pairs]), keys)


def processor_cache_operations(
    config: processor_cache.Config, state: processor_cache.State
) -> SearchStrategy[Op]:
    """Raw calls and merge steps, with repeated hashes and sizes about the budget.

    Where a promise was evicted, one of three operations asks for it: few others would.
    """
    evicted = [key for key, _ in state.promised if find(state.entries, key) is None]
    if evicted:
        asked = st.sampled_from([processor_cache.Update(key) for key in evicted])
        usual = _processor_cache_operations(config.budget)
        return st.one_of(usual, usual, asked)
    return _processor_cache_operations(config.budget)


receiver_configs = st.builds(receiver.Config, budgets)


@lru_cache(maxsize=64)
def _receiver_operations(budget: int) -> SearchStrategy[Op]:
    sizes = contents(budget)
    simple = weighted(
        (4, (receiver.Clear(),)),
        (4, [receiver.Touch(key) for key in KEYS]),
        (4, [receiver.Update(key) for key in KEYS]),
        (1, [receiver.Update(key, content) for key in KEYS for content in sizes]),
    )
    feature = st.sampled_from(
        [receiver.Feature(key) for key in KEYS] * len(sizes)
        + [receiver.Feature(key, content) for key in KEYS for content in sizes]
        + [
            receiver.Feature(key, content, has_mm_hash=False)
            for key in KEYS
            for content in (None, *sizes[:3])
        ]
    )
    features = st.lists(feature, max_size=LONGEST_REQUEST).map(
        lambda chosen: receiver.Features(tuple(chosen))
    )
    return st.one_of(simple, features)


def receiver_operations(config: receiver.Config, state: receiver.State) -> SearchStrategy[Op]:
    """Raw updates, and requests with and without data."""
    return _receiver_operations(config.budget)


item_configs = st.just(items.Config())


shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
payloads = st.one_of(
    st.builds(items.Tensor, shapes, st.sampled_from(sorted(items.WIDTHS)), st.booleans()),
    st.builds(items.Array, shapes, st.sampled_from(("uint8", "float32", "int64")), st.booleans()),
)


def _values() -> SearchStrategy[items.Description]:
    leaves = st.one_of(
        payloads,
        st.builds(items.Plain, st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text())),
    )
    names = st.sampled_from(("pixels", "grid", "mask"))

    def containers(inner: SearchStrategy[items.Description]) -> SearchStrategy[items.Description]:
        members = st.lists(inner, max_size=3).map(tuple)
        named = st.dictionaries(names, inner, max_size=3).map(lambda chosen: tuple(chosen.items()))
        return st.one_of(st.builds(items.Sequence, members, st.booleans()), st.builds(items.Mapped, named))

    return st.recursive(leaves, containers, max_leaves=6)


def _item_operations() -> SearchStrategy[Op]:
    values = _values()
    names = st.sampled_from(("pixels", "grid", "mask"))
    item = st.dictionaries(names, values, max_size=3).map(lambda chosen: items.Item(tuple(chosen.items())))
    many = st.dictionaries(
        st.sampled_from(("image", "video")), st.lists(item, max_size=2).map(tuple), max_size=2
    ).map(lambda chosen: items.Items(tuple(chosen.items())))
    anything = st.one_of(values, item, many)
    return st.one_of(
        st.builds(items.Size, anything),
        st.builds(items.Complexity, anything),
        st.builds(items.CachedSize, item, st.booleans()),
        st.builds(items.CacheIfFits, st.integers(0, 8), st.integers(0, 8)),
        st.builds(items.Kept, payloads, st.sampled_from(("processor-only", "receiver"))),
    )


_any_item_operation = _item_operations()


def item_operations(config: items.Config, state: items.State) -> SearchStrategy[Op]:
    """Questions about nested values, with empty containers and views among them."""
    return _any_item_operation


factory_configs = st.just(factories.Config())
_any_factory_operation: SearchStrategy[Op] = st.builds(
    factories.Make,
    st.sampled_from(("processor", "processor_only", "engine", "worker")),
    st.builds(
        factories.Configuration,
        st.sampled_from((factories.GIB, 0, -1, 1, 1000, 3 * factories.GIB // 2)),
        st.sampled_from(("lru", "shm", "fifo", "")),
        st.booleans(),
        st.integers(0, 3),
        st.integers(1, 3),
        st.booleans(),
    ),
    st.booleans(),
).filter(lambda operation: not factories.makes_shared_memory(operation))


def factory_operations(config: factories.Config, state: factories.State) -> SearchStrategy[Op]:
    """Combinations of all attributes, but for those that would make a shared-memory cache."""
    return _any_factory_operation


CONTENT_OF_KEY = {key: index for index, key in enumerate(KEYS)}
"""Which of the contents a key has unless a client lies about its identity."""


def _system_config(budget: int) -> environment.Config:
    """Every accident may happen; of the protections only the one that lives inside the caches is on."""
    return environment.Config(
        budget,
        requests=(),
        depth=DEPTH,
        clears=UNBOUNDED,
        accidents=frozenset(environment.ACCIDENTS),
        protections=frozenset({"keep-touched"}),
    )


UNBOUNDED = 1 << 30
"""Clears in one run: as many as are drawn."""
system_configs = st.builds(_system_config, budgets)


@lru_cache(maxsize=64)
def system_requests(budget: int) -> SearchStrategy[pair.Request]:
    """Requests of known contents mostly, with repeated hashes, two modalities, and items left out."""
    sizes = contents(budget)
    usual = [pair.Item(key, sizes[index % len(sizes)]) for key, index in CONTENT_OF_KEY.items()]
    videos = [item._replace(modality="video") for item in usual[:2]]
    omitted = [item._replace(supplied=False) for item in usual[:2]]
    lies = [pair.Item(key, content) for key in KEYS[:2] for content in sizes]
    item = st.sampled_from([*usual * 6, *videos * 3, *omitted * 2, *lies])
    return st.lists(item, min_size=1, max_size=LONGEST_REQUEST).map(tuple)


@lru_cache(maxsize=512)
def _system_operations(
    budget: int, in_channel: int, reports: int, retries: int, is_checked: bool, is_clearing: bool
) -> SearchStrategy[Op]:
    request = system_requests(budget)
    submit = request.map(key_replicated.Submit)
    choices: list[SearchStrategy[Op]] = []
    if is_checked:
        choices += [st.just(accidents.Update())] * 3
    elif in_channel + reports + retries < DEPTH:
        refused = st.one_of(request.map(accidents.Reject), request.map(accidents.DryRun))
        choices += [submit] * 4 + [refused, request.map(accidents.Check), request.map(accidents.Bypass)]
    if in_channel:
        choices += [st.just(key_replicated.Deliver())] * 4
        choices += [st.builds(key_replicated.Deliver, st.integers(0, in_channel - 1))]
        choices += [st.builds(accidents.Abort, st.integers(0, in_channel - 1))]
    if reports:
        choices += [st.builds(key_replicated.HandleReport, st.integers(0, reports - 1))] * 3
        choices += [st.builds(accidents.LoseReport, st.integers(0, reports - 1))]
    if retries and not is_checked:
        choices += [st.builds(key_replicated.SubmitAgain, st.integers(0, retries - 1))] * 3
    clears: list[Op] = [accidents.ClearP0(), accidents.ClearP1(), accidents.RestartP1()]
    clears.append(accidents.FinishClear() if is_clearing else accidents.ClearBoth())
    return st.one_of(*choices, st.sampled_from(clears))


def system_operations(config: environment.Config, state: pair.State) -> SearchStrategy[Op]:
    """What is enabled in this state; requests and deliveries more often than accidents."""
    return _system_operations(
        config.budget,
        len(state.channel),
        len(state.reports),
        len(state.retries),
        state.checked is not None,
        bool(state.clearing),
    )
