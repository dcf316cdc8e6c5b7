"""Choices for the pair and the protocol around it: requests, deliveries, and every accident."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import accidents, environment
from mmcache_ref.model import key_replicated as model
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.pair import Item, Request, State
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.draws import Draw

DEPTH: Final = 3
"""Requests under way at once."""
UNBOUNDED: Final = 1 << 30
"""Clears in one run: as many as are chosen."""


def _config(budget: int, protections: frozenset[str]) -> environment.Config:
    """Every accident may happen."""
    return environment.Config(
        budget,
        requests=(),
        depth=DEPTH,
        clears=UNBOUNDED,
        accidents=frozenset(environment.ACCIDENTS),
        protections=protections,
    )


unprotected = st.builds(_config, common.budgets, st.just(frozenset({"keep-touched"})))
"""Of the protections only the one that lives inside the caches."""

_fewer = st.sets(st.sampled_from(sorted(environment.DEFAULT_PROTECTIONS - {"keep-touched"})), max_size=3).map(
    lambda dropped: environment.DEFAULT_PROTECTIONS - dropped
)
protected = st.builds(
    _config,
    common.budgets,
    st.one_of(
        st.just(environment.DEFAULT_PROTECTIONS),
        st.just(environment.DEFAULT_PROTECTIONS),
        st.just(environment.DEFAULT_PROTECTIONS - {"paired"}),
        _fewer,
    ),
)
"""The default protections, or all but up to three of them."""


def choose(config: environment.Config, state: State, draw: Draw) -> Op:
    """What is enabled in this state; requests and deliveries more often than accidents."""
    choices: list[Callable[[], Op]] = []
    under_way = len(state.channel) + len(state.reports) + len(state.retries)
    if state.checked is not None:
        choices += [accidents.Update] * 3
    elif under_way < DEPTH:
        choices += [lambda: model.Submit(request(config, state, draw))] * 4
        choices += [lambda: _accident(config, state, draw)] * 3
    if state.channel:
        choices += [model.Deliver] * 3
        choices += [lambda: _in_channel(state, draw)] * len(state.channel)
    if state.reports:
        choices += [lambda: model.HandleReport(draw.up_to(len(state.reports) - 1))] * 3
        choices += [lambda: accidents.LoseReport(draw.up_to(len(state.reports) - 1))]
    if state.retries and state.checked is None:
        choices += [lambda: model.SubmitAgain(draw.up_to(len(state.retries) - 1))] * 3
    choices += [lambda: _clear(state, draw)]
    if not state.clearing and any(report.number > state.p0_number for report in state.reports):
        # P0 is about to learn of a clear with a later number than the one that it asks for.
        choices += [accidents.ClearBoth]
    if any(message.number > state.clearing > 0 for message in state.channel):
        choices += [accidents.FinishClear] * 2
    return draw.of(choices)()


def _accident(config: environment.Config, state: State, draw: Draw) -> Op:
    """A request with which something else happens than being sent."""
    made = draw.of(
        (
            accidents.Reject,
            accidents.DryRun,
            accidents.Check,
            accidents.Bypass,
            accidents.SecondFrontEnd,
            accidents.SecondEngine,
        )
    )
    return made(request(config, state, draw))


def _in_channel(state: State, draw: Draw) -> Op:
    """Something that happens to a message on its way."""
    made: Sequence[Callable[[int], Op]] = (model.Deliver, model.Deliver, accidents.Abort, accidents.Drop)
    last = len(state.channel) - 1
    return draw.of(made)(last if draw.is_one_in(2) else draw.up_to(last))


def _clear(state: State, draw: Draw) -> Op:
    """A clear of one side or both, or the second half of one."""
    both = accidents.FinishClear if state.clearing else accidents.ClearBoth
    return draw.of((accidents.ClearP0, accidents.ClearP1, accidents.RestartP1, both))()


def request(config: environment.Config, state: State, draw: Draw) -> Request:
    """A few items or none, with repeated hashes, two modalities, items left out, and false identities."""
    length = draw.up_to(common.LONGEST_REQUEST)
    chosen: list[Item] = []
    for _ in range(length):
        again = chosen and draw.is_one_in(4)
        key = draw.of(chosen).key if again else common.key(draw, state.sender)
        is_false = draw.is_one_in(10)
        content = common.content(draw, config.budget, state.sender) if is_false else usual(key, config.budget)
        modality = "video" if draw.is_one_in(4) else "image"
        chosen.append(Item(key, content, not draw.is_one_in(8), modality))
    return tuple(chosen)


def usual(key: str, budget: int) -> Content:
    """The content of a key unless a client lies about its identity: some fill the budget, one exceeds it."""
    place = common.KEYS.index(key)
    nbytes = (max(1, budget // 3), max(1, budget // 2), 1, budget, budget + 1)[place]
    return Content(nbytes, place + 1 if nbytes else 0)
