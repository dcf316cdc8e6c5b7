"""What fuzzing draws for the pair and the protocol around it."""

from __future__ import annotations

from functools import lru_cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mmcache_ref.model import accidents, environment, key_replicated, pair
from mmcache_ref.model.component import Content, Op
from mmcache_ref.oracle.choices.common import KEYS, LONGEST_REQUEST, budgets

DEPTH = 3
"""Requests under way at once."""


@lru_cache(maxsize=64)
def contents(budget: int) -> tuple[Content, ...]:
    """Contents of sizes from 0 to just above the budget: a third, a half, all of it, one below, one above.

    Small sizes come first, which is what shrinking prefers, and sizes at the edge twice.
    """
    sizes = {0, 1, 2, max(1, budget // 3), budget // 2, max(0, budget - 1), budget, budget + 1}
    edges = (max(0, budget - 1), budget, budget + 1)
    # An item without bytes has nothing to fill.
    return tuple(Content(size, fill if size else 0) for fill in (1, 2) for size in (*sorted(sizes), *edges))


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
