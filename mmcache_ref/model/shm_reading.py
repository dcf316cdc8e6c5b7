"""The workers' side: what is read, and what is acknowledged.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from typing import Any

from . import shm_store as moves
from .component import Content, Missed, Outcome, Raised
from .shm_environment import Config
from .shm_requests import Feature, Message, Retry, Running, State
from .shm_sending import Stepped
from .shm_store import Handle, Store

GONE = Raised("ValueError", says="modified or is invalid")
"""What a receiver raises for a handle whose chunk is gone.   [SC-23]"""


def handles_of(features: tuple[Feature, ...]) -> tuple[Handle, ...]:
    """The handles among the features, in order."""
    return tuple([feature.handle for feature in features if feature.handle is not None])


def served(features: tuple[Feature, ...]) -> tuple[Content | None, ...]:
    """What a worker gets for each item; `None` for what was stripped.   [SC-18, SC-31]"""
    return tuple([None if feature.is_stripped else feature.item.content for feature in features])


def request_of(features: tuple[Feature, ...]) -> tuple[Any, ...]:
    """The items as the client asked for them, with all their data."""
    return tuple([feature.item for feature in features])


def read_once(store: Store, features: tuple[Feature, ...]) -> tuple[Store, Missed | None]:
    """A worker reads every handle and acknowledges what is in place.   [SC-19, SC-33, SC-42]"""
    store, gone = moves.acknowledge(store, handles_of(features))
    return store, Missed(tuple([handle.key for handle in gone])) if gone else None


def read(config: Config, state: State, position: int, worker: int) -> Stepped:
    """A worker reads a message for its next child.   [SC-21, SC-29, SC-33, SC-39, SC-42]

    With `one-acknowledgement` only its first read reads the handles. A worker that dies has counted nothing,
    as every handle is verified before any is read. After a miss the request has failed, and this worker reads
    it no more.
    """
    message = state.channel[position]
    left, has_read = list(message.left), list(message.has_read)
    left[worker] -= 1
    if has_read[worker] and config.acknowledges_once:
        return _put_back(state, position, message._replace(left=tuple(left))), Outcome(
            "kept", served(message.features)
        )
    has_read[worker] = True
    store, missed = read_once(state.store, message.features)
    if missed is not None:
        if not config.recovers:
            return state._replace(is_dead=True), Outcome("died", GONE)
        left[worker] = 0
    after = message._replace(
        left=tuple(left), has_read=tuple(has_read), has_missed=message.has_missed or missed is not None
    )
    state = _put_back(state._replace(store=store), position, after)
    if message.is_release:
        return state, Outcome("dropped", ())
    if missed is not None:
        return state, Outcome("missed", missed)
    kind = "acknowledged" if handles_of(message.features) else "passed"
    return state, Outcome(kind, served(message.features))


def _put_back(state: State, position: int, message: Message) -> State:
    """The message in its place; or, when nobody has to read it any more, where its request goes.   [SC-29]"""
    if any(message.left):
        return state._replace(channel=(*state.channel[:position], message, *state.channel[position + 1 :]))
    state = state._replace(channel=(*state.channel[:position], *state.channel[position + 1 :]))
    if message.is_release:
        return state
    if message.has_missed:
        retry = Retry(request_of(message.features), message.children)
        return state._replace(retries=(*state.retries, retry))
    return state._replace(running=(*state.running, Running(message.features, message.children)))


def resume(config: Config, state: State, position: int) -> Stepped:
    """Every worker is given a running request again.   [SC-40, SC-42]

    With `handle-until-done` it has what it read; without, it reads the handles once more.
    """
    running = state.running[position]
    others = (*state.running[:position], *state.running[position + 1 :])
    again = running._replace(has_resumed=True)
    in_place = state._replace(running=(*state.running[:position], again, *state.running[position + 1 :]))
    result = (served(running.features),) * config.workers
    if config.keeps_until_done:
        return in_place, Outcome("kept", result)
    store, missed = state.store, None
    for _ in range(config.workers):
        store, missed = read_once(store, running.features)
    if missed is None:
        kind = "acknowledged" if handles_of(running.features) else "passed"
        return in_place._replace(store=store), Outcome(kind, result)
    if not config.recovers:
        return state._replace(is_dead=True), Outcome("died", GONE)
    retry = Retry(request_of(running.features), running.children)
    after = state._replace(store=store, running=others, retries=(*state.retries, retry))
    return after, Outcome("missed", missed)
