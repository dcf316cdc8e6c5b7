"""Choices for the shared-memory caches and the protocol around them: requests, reads, and every accident."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, get_args

from hypothesis import strategies as st

from mmcache_ref.model import shm_accidents as operations
from mmcache_ref.model import shm_environment as environment
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.shm_environment import DEFAULT_PROTECTIONS, Config
from mmcache_ref.model.shm_requests import Item, Request, State
from mmcache_ref.model.shm_requests import request as shared_request
from mmcache_ref.oracle.draws import Draw

KEYS: Final = ("a", "b", "c", "d", "e", "f")
DEPTH: Final = 4
"""Requests under way at once."""
LONGEST_REQUEST: Final = 4
MOST_CHILDREN: Final = 3
OFTEN: Final = 4
"""How much more often comes what no protection makes harmless."""


def _config(size: tuple[int, int], workers: int, protections: frozenset[str]) -> Config:
    """Every accident may happen."""
    capacity, limit = size
    return Config(
        capacity,
        limit,
        requests=(),
        workers=workers,
        depth=DEPTH,
        accidents=frozenset(environment.ACCIDENTS),
        protections=protections,
    )


sizes = st.sampled_from(((4, 2), (3, 4), (5, 3), (6, 6), (1, 1), (2, 1), (8, 3), (4, 5), (24, 4)))
"""Capacity and limit in units: rings of one chunk to two dozen, limits below, at and above the capacity."""
_fewer = st.sets(st.sampled_from(sorted(DEFAULT_PROTECTIONS)), max_size=3).map(
    lambda dropped: DEFAULT_PROTECTIONS - dropped
)
configs = st.builds(
    _config,
    sizes,
    st.sampled_from((2, 1, 3)),
    st.one_of(
        st.just(DEFAULT_PROTECTIONS),
        st.just(DEFAULT_PROTECTIONS),
        st.just(DEFAULT_PROTECTIONS - {"drained-clear", "handle-until-done", "one-acknowledgement"}),
        _fewer,
        st.just(frozenset()),
    ),
)
"""The default protections, those without the ones that keep handles from going stale, all but up to three of
them, or none."""

EXECUTED: Final = Config(
    capacity=2,
    limit=3,
    requests=(
        shared_request("b", "a"),
        shared_request("c"),
        shared_request("d:3"),
        shared_request("a", supplied=False),
    ),
    depth=1,
    accidents=frozenset(environment.ACCIDENTS),
    protections=DEFAULT_PROTECTIONS,
)
"""A graph with everything that may happen to the caches, one request under way; executed in seconds."""

BROKEN_OFF: Final = Config(
    capacity=2,
    limit=2,
    requests=(shared_request("a"), shared_request("a", "b:2", "a"), shared_request("a", supplied=False)),
    workers=1,
    depth=1,
    accidents=frozenset({"fan-out"}),
    protections=DEFAULT_PROTECTIONS - {"one-acknowledgement"},
)
"""Where children count twice, a key may go between two updates of one request, which is broken off then."""

RESUMED: Final = Config(
    capacity=1,
    limit=1,
    requests=(shared_request("a"), shared_request("b")),
    workers=1,
    accidents=frozenset({"resume"}),
    protections=DEFAULT_PROTECTIONS - {"handle-until-done"},
)
"""Where nothing is kept, a request that resumes may find its chunk gone."""


def choose(config: Config, state: State, draw: Draw) -> Op:
    """What is enabled in this state; requests and reads more often than accidents, unless these do harm."""
    choices: list[Callable[[], Op]] = [lambda: _of_a_client(state, draw), lambda: _rare(config, draw)]
    if len(state.channel) + len(state.running) + len(state.retries) < config.depth:
        choices += [lambda: _request(config, state, draw, operations.Submit)] * 6
        choices += [lambda: _request(config, state, draw, operations.Reject)] * 2
    if state.channel:
        choices += [lambda: _read(state, draw)] * 10
        last = len(state.channel) - 1
        choices += [lambda: operations.Abort(draw.up_to(last)), lambda: operations.Strip(draw.up_to(last))]
        choices += [] if config.drains else [operations.Clear] * 2
    if state.running:
        last_running = len(state.running) - 1
        choices += [lambda: operations.Finish(draw.up_to(last_running))] * 4
        resume = 1 if config.keeps_until_done else OFTEN
        choices += [lambda: operations.Resume(draw.up_to(last_running))] * resume
    if state.retries:
        choices += [lambda: operations.SubmitAgain(draw.up_to(len(state.retries) - 1))] * 3
    return draw.of(choices)()


def _read(state: State, draw: Draw) -> Op:
    """A worker that has yet to read a message reads it: most often the oldest one."""
    position = 0 if draw.is_one_in(2) else draw.up_to(len(state.channel) - 1)
    waiting = [worker for worker, left in enumerate(state.channel[position].left) if left]
    return operations.Read(position, draw.of(waiting))


def _request(config: Config, state: State, draw: Draw, made: Callable[[Request, int], Op]) -> Op:
    """A request, now and then with several children."""
    has_children = draw.is_one_in(OFTEN if config.acknowledges_once else 2)
    children = 1 + draw.up_to(MOST_CHILDREN - 1) if has_children else 1
    return made(request(config, state, draw), children)


def _rare(config: Config, draw: Draw) -> Op:
    """A clear, or the death of a worker."""
    if draw.is_one_in(2):
        return operations.Clear()
    return operations.Die(draw.up_to(config.workers - 1))


def _of_a_client(state: State, draw: Draw) -> Op:
    """A client brings a handle: one that it saw, or one of its own making."""
    stored = [entry.key for entry in state.store.entries]
    outdated = sorted(state.outdated)
    if outdated and draw.is_one_in(3):
        return operations.Replay(draw.of(outdated), is_outdated=True)
    key = draw.of(stored or KEYS)
    if draw.is_one_in(2):
        return operations.Replay(key)
    return operations.Forge(key, draw.of(get_args(operations.Forgery)), draw.of(get_args(operations.Seen)))


def request(config: Config, state: State, draw: Draw) -> Request:
    """A few items, with repeated keys and items left out."""
    if not config.acknowledges_once and state.store.entries and draw.is_one_in(OFTEN):
        return _around_another(config, state.store.entries[0].key)
    chosen: list[Item] = []
    for _ in range(1 + draw.up_to(LONGEST_REQUEST - 1)):
        again = chosen and draw.is_one_in(4)
        key = draw.of(chosen).key if again else _key(state, draw)
        chosen.append(Item(key, usual(key, config), not draw.is_one_in(8)))
    return tuple(chosen)


def _around_another(config: Config, key: str) -> Request:
    """The oldest item before and after one that needs its place: where readings were counted twice, it is
    gone when it is looked up again."""
    around, another = (Item(each, usual(each, config)) for each in (key, "d" if key != "d" else "c"))
    return (around, another, around)


def _key(state: State, draw: Draw) -> str:
    """A key: a stored one, one that is gone, or any."""
    stored = [entry.key for entry in state.store.entries]
    role = draw.up_to(9)
    if stored and role <= 2:
        return draw.of(stored)
    if role <= 4 and (gone := [key for key in draw.recent_keys() if key in KEYS and key not in stored]):
        return draw.of(gone)
    return draw.of(KEYS)


def usual(key: str, config: Config) -> Content:
    """The content of a key: small ones, one as large as may be, and one that is too large."""
    place = KEYS.index(key)
    largest = max(1, min(config.limit, config.capacity))
    units = (1, min(2, largest), 1, largest, max(1, config.capacity - largest), largest + 1)[place]
    return Content(units, place + 1)
