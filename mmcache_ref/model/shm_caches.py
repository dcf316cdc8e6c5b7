"""The shared-memory caches inside their protocol.   [spec/08-shm-caches.md]

One operation is one step of P0, of a worker, or of the environment; P0 handles a request in one piece. Sizes
are in units, so that the same runs fit every way to write an item: `ring_moves` places the chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any, get_args

from . import shm_accident_steps as accidents
from .component import Op, Outcome
from .ring_moves import place_in
from .shm_accidents import (
    Abort,
    Clear,
    Die,
    Finish,
    Forge,
    Forgery,
    Operation,
    Read,
    Reject,
    Replay,
    Resume,
    Seen,
    Strip,
    Submit,
    SubmitAgain,
)
from .shm_counts import errors
from .shm_environment import ACCIDENTS, PRESETS, PROTECTIONS, SYNONYMS, Config, configure
from .shm_reading import read
from .shm_requests import Feature, Message, Running, State
from .shm_rules import ASPECTS, CULPRITS, RULES
from .shm_sending import DISABLED, Stepped, carried, may_begin, message, send, unsupplied, update
from .shm_store import Store

NAME = "shm-caches"

__all__ = [
    "ACCIDENTS",
    "ASPECTS",
    "CULPRITS",
    "NAME",
    "PRESETS",
    "PROTECTIONS",
    "RULES",
    "SYNONYMS",
    "Config",
    "Operation",
    "State",
    "bare",
    "configure",
    "initial",
    "observe",
    "operations",
    "step",
    "view",
]


def initial(config: Config) -> State:
    """An empty ring and nothing under way."""
    return State(Store(config.workers))


def operations(config: Config, state: State) -> list[Operation]:
    """Every operation that is enabled; none where the count of a chunk is off by more than a whole reference.

    Without protections counts drift ever further apart. What a larger error leads to, a smaller one does too.
    """
    if any(abs(error) > config.workers for error in errors(state)):
        return []
    shape = _shape(state)
    enabled: list[Operation] | None = config.enabled.get(shape)
    if enabled is None:
        enabled = [letter for letter in alphabet(config) if step(config, state, letter)[1] is not DISABLED]
        config.enabled[shape] = enabled
    return enabled


def _shape(state: State) -> tuple[Any, ...]:
    """What of a state decides which operations are enabled."""
    return (
        state.is_dead,
        tuple(
            [
                (message.left, any(message.has_read), message.is_release, carried(message.features))
                for message in state.channel
            ]
        ),
        accidents.has_handles_under_way(state),
        tuple([running.has_resumed for running in state.running]),
        len(state.retries),
        frozenset([entry.key for entry in state.store.entries]),
        state.outdated,
    )


def alphabet(config: Config) -> list[Operation]:
    """Every operation with every request, key, place and worker of the configuration.

    Handles are forged of one key only: no forgery changes anything.
    """
    letters: list[Operation] = []
    for request in config.possible_requests:
        for children in (1, 2):
            letters += [Submit(request, children), Reject(request, children)]
    for position in range(config.depth):
        letters += [Read(position, worker) for worker in range(config.workers)]
        letters += [
            Finish(position),
            SubmitAgain(position),
            Abort(position),
            Strip(position),
            Resume(position),
        ]
    letters += [Clear(), *(Die(worker) for worker in range(config.workers))]
    for key in config.keys:
        letters += [Replay(key), Replay(key, is_outdated=True)]
    for key in config.keys[:1]:
        letters += [Forge(key, how, at) for how in get_args(Forgery) for at in get_args(Seen)]
    return letters


def step(config: Config, state: State, operation: Operation) -> Stepped:
    """One operation; what is not enabled is `disabled` and changes nothing."""
    return STEPS[type(operation)](config, state, operation)


def _submit(config: Config, state: State, operation: Submit) -> Stepped:
    """One request from its check to the channel.   [SC-25, SC-26]"""
    if not may_begin(config, state, operation.children, operation.request):
        return state, DISABLED
    if refusal := unsupplied(state, operation.request):
        return state, refusal
    return send(config, state, update(config, state.store, operation.request), operation.children)


def _read(config: Config, state: State, operation: Read) -> Stepped:
    """A worker reads a message that it has yet to read.   [SC-29]"""
    position, worker = operation.position, operation.worker
    if state.is_dead or not (0 <= position < len(state.channel) and 0 <= worker < config.workers):
        return state, DISABLED
    if not state.channel[position].left[worker]:
        return state, DISABLED
    return read(config, state, position, worker)


def _finish(config: Config, state: State, operation: Finish) -> Stepped:
    """A running request ends, and what was kept for it goes.   [SC-29, SC-40]"""
    place = operation.position
    if state.is_dead or not 0 <= place < len(state.running):
        return state, DISABLED
    return state._replace(running=(*state.running[:place], *state.running[place + 1 :])), Outcome("finished")


def _retry(config: Config, state: State, operation: SubmitAgain) -> Stepped:
    """A request once more, with all its data, past the cache, when there is room for it.   [SC-45]"""
    place = operation.position
    if state.is_dead or not 0 <= place < len(state.retries):
        return state, DISABLED
    if len(state.channel) + len(state.running) >= config.depth:
        return state, DISABLED
    retry = state.retries[place]
    features = tuple([Feature(item) for item in retry.request])
    after = state._replace(
        channel=(*state.channel, message(config, features, retry.children)),
        retries=(*state.retries[:place], *state.retries[place + 1 :]),
    )
    return after, Outcome("sent", carried(features))


STEPS: Mapping[type[Op], Callable[[Config, State, Any], Stepped]] = {
    Submit: _submit,
    Read: _read,
    Finish: _finish,
    SubmitAgain: _retry,
    Clear: accidents.clear,
    Reject: accidents.reject,
    Abort: accidents.abort,
    Strip: accidents.strip,
    Resume: accidents.resumed,
    Die: accidents.die,
    Forge: accidents.forge,
    Replay: accidents.replay,
}


def bare(config: Config) -> Config:
    """The configuration without the requests, which only a search needs."""
    return replace(config, requests=())


def view(state: State) -> Any:
    """What identifies a state in a search.

    Ids and laps only tell chunks apart, so a handle is the place of its chunk among the others, and a chunk
    where it lies. Of references and count only what is left to acknowledge matters. Counters of lookups, and
    which handles are outdated, change nothing but themselves. Workers are alike, and so is the order of what
    is under way. A dead engine is one state.
    """
    if state.is_dead:
        return "dead"
    ring, entries, workers = state.store.ring, state.store.entries, state.store.workers
    places = {chunk.id: place for place, chunk in enumerate(ring.chunks)}
    messages = [
        (_features(places, message), message.children, message.is_release, message.has_missed)
        for message in state.channel
    ]
    reads = [tuple(zip(message.left, message.has_read, strict=True)) for message in state.channel]
    channel = min(
        sorted(
            [
                (*message, tuple([each[worker] for worker in order]))
                for message, each in zip(messages, reads, strict=True)
            ]
        )
        for order in permutations(range(workers))
    )
    return (
        ring.begin,
        ring.end,
        tuple([chunk.begin - ring.chunks[0].begin for chunk in ring.chunks]),
        tuple(
            [(entry.key, entry.content, entry.references * workers - entry.acknowledged) for entry in entries]
        ),
        tuple(channel),
        tuple(sorted([(_features(places, each), *each[1:]) for each in state.running])),
        tuple(sorted(state.retries)),
    )


def _features(places: Mapping[int, int], holder: Message | Running) -> tuple[Any, ...]:
    """The features with the place of each handle's chunk: -1 when it is gone, -2 without a handle."""
    return tuple(
        [
            (item, -2 if handle is None else places.get(handle.id, -1), is_stripped, is_referenced)
            for item, handle, is_stripped, is_referenced in holder.features
        ]
    )


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of P0, of the segment and of what is under way; of a dead engine, only that.

    `entries`: key, references and reader count of each chunk, oldest first; `layout`: where in the area each
    lies, and its size, in units; `ring`: begin and end. `under-way`: how many messages, running requests and
    retries. `channel`: for each message how its items travel, the reads that each worker has left, and
    whether it is a release.
    """
    if state.is_dead:
        return {**dict.fromkeys(ASPECTS), "dead": True}
    ring, entries = state.store.ring, state.store.entries
    return {
        "dead": False,
        "hits": state.store.hits,
        "total": state.store.total,
        "length": len(entries),
        "keys": tuple([entry.key for entry in entries]),
        "references": tuple([entry.references for entry in entries]),
        "counts": tuple([entry.acknowledged for entry in entries]),
        "layout": tuple([(place_in(config.capacity, chunk.begin), chunk.size) for chunk in ring.chunks]),
        "ring": (ring.begin, ring.end),
        "under-way": (len(state.channel), len(state.running), len(state.retries)),
        "channel": tuple(
            [
                (
                    tuple([(each.item.key, each.how) for each in message.features]),
                    message.left,
                    message.is_release,
                )
                for message in state.channel
            ]
        ),
    }
