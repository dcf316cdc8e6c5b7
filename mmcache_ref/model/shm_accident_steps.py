"""What each accident does to the shared-memory caches, and what stops it.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from . import shm_store as moves
from .component import Outcome, Raised
from .shm_accidents import Abort, Clear, Die, Forge, Reject, Replay, Resume, Strip
from .shm_environment import Config
from .shm_reading import request_of, resume
from .shm_requests import Feature, Item, Message, Retry, State
from .shm_sending import (
    DISABLED,
    Stepped,
    break_off,
    carried,
    in_store,
    may_begin,
    message,
    unsupplied,
    update,
)

REFUSED = Outcome("refused", Raised("ValueError", says="SHM handle signature"))
"""A client's handle that does not stand."""
REFUSED_BY_WORKER = REFUSED._replace(kind="refused-by-worker")
DEFERRED = Outcome("deferred", False)
"""It has to wait for the handles under way.   [SC-41]"""


def reject(config: Config, state: State, operation: Reject) -> Stepped:
    """Refused after its update; with `release-on-abort` the workers read it as a release.   [SC-38]"""
    if "reject" not in config.accidents or not may_begin(
        config, state, operation.children, operation.request
    ):
        return state, DISABLED
    if refusal := unsupplied(state, operation.request):
        return state, refusal
    updated = update(config, state.store, operation.request)
    if not updated.is_whole:
        return break_off(config, state, updated, operation.children)
    after = in_store(state, updated.store)
    if not config.releases:
        return after, updated.outcome("rejected")
    release = message(config, updated.features, operation.children, is_release=True)
    return after._replace(channel=(*after.channel, release)), updated.outcome("released")


def abort(config: Config, state: State, operation: Abort) -> Stepped:
    """Taken out of the channel; with `release-on-abort` it stays until all workers have read it.   [SC-38]"""
    place = operation.position
    if "abort" not in config.accidents or state.is_dead or not 0 <= place < len(state.channel):
        return state, DISABLED
    aborted = state.channel[place]
    if aborted.is_release:
        return state, DISABLED
    release = as_release(aborted) if config.releases else None
    return _replaced(state, place, release), Outcome("released" if config.releases else "aborted")


def as_release(ended: Message) -> Message | None:
    """What is left of a message whose request is over: one read of each worker that has read nothing; None
    when there is no such worker.   [SC-38, SC-44]"""
    left = tuple([int(reads > 0 and not has) for reads, has in zip(ended.left, ended.has_read, strict=True)])
    return ended._replace(left=left, is_release=True, has_missed=False) if any(left) else None


def _replaced(state: State, place: int, release: Message | None) -> State:
    rest = () if release is None else (release,)
    return state._replace(channel=(*state.channel[:place], *rest, *state.channel[place + 1 :]))


def strip(config: Config, state: State, operation: Strip) -> Stepped:
    """Payloads become `None` before anybody reads them; with `keep-handles` no handle does.   [SC-30]"""
    place = operation.position
    if "strip" not in config.accidents or state.is_dead or not 0 <= place < len(state.channel):
        return state, DISABLED
    covered = state.channel[place]
    if covered.is_release or any(covered.has_read) or all(each.is_stripped for each in covered.features):
        return state, DISABLED
    features = tuple([_stripped(config, feature) for feature in covered.features])
    if features == covered.features:
        return state, Outcome("handles-kept")
    return _replaced(state, place, covered._replace(features=features)), Outcome("stripped")


def _stripped(config: Config, feature: Feature) -> Feature:
    if feature.handle is not None and config.keeps_handles:
        return feature
    return Feature(feature.item, None, is_stripped=True)


def resumed(config: Config, state: State, operation: Resume) -> Stepped:
    """A running request is read again, at most once.   [SC-40]"""
    place = operation.position
    if "resume" not in config.accidents or state.is_dead or not 0 <= place < len(state.running):
        return state, DISABLED
    if state.running[place].has_resumed:
        return state, DISABLED
    return resume(config, state, place)


def has_handles_under_way(state: State) -> bool:
    """Whether some worker has yet to acknowledge a handle."""
    return any(
        owes and not has_read and any(feature.handle is not None for feature in each.features)
        for each in state.channel
        for owes, has_read in zip(each.left, each.has_read, strict=True)
    )


def clear(config: Config, state: State, operation: Clear) -> Stepped:
    """P0 is cleared; with `drained-clear` not before every handle under way is acknowledged.   [SC-41]"""
    if state.is_dead:
        return state, DISABLED
    if has_handles_under_way(state):
        if "clear-in-flight" not in config.accidents:
            return state, DISABLED
        if config.drains:
            return state, DEFERRED
    return in_store(state, moves.clear(state.store)), Outcome("cleared")


def die(config: Config, state: State, operation: Die) -> Stepped:
    """A worker dies, and every request under way ends.   [SC-44]

    The other workers still have in their queues what they have not read, as releases; what the dead one had
    to acknowledge is lost. With `clear-on-death` P0 is cleared at once, and the requests will be retried.
    """
    worker = operation.worker
    if "worker-death" not in config.accidents or state.is_dead or not 0 <= worker < config.workers:
        return state, DISABLED
    left: list[Message] = []
    ended: list[Retry] = []
    for each in state.channel:
        if not each.is_release:
            ended.append(Retry(request_of(each.features), each.children))
        owed = as_release(
            each._replace(left=tuple([0 if at == worker else reads for at, reads in enumerate(each.left)]))
        )
        if owed is not None:
            left.append(owed)
    ended += [Retry(request_of(each.features), each.children) for each in state.running]
    after = state._replace(channel=tuple(left), running=())
    if not config.clears_on_death:
        return after, Outcome("restarted")
    after = in_store(after, moves.clear(state.store))._replace(retries=(*state.retries, *ended))
    return after, Outcome("cleared")


def forge(config: Config, state: State, operation: Forge) -> Stepped:
    """A client's own handle is refused wherever it is shown, and nothing changes.   [SC-15, SC-22, SC-27]"""
    if "forge" not in config.accidents or state.is_dead:
        return state, DISABLED
    if moves.place_of(state.store, operation.key) is None:
        return state, DISABLED
    return state, REFUSED if operation.at == "p0" else REFUSED_BY_WORKER


def replay(config: Config, state: State, operation: Replay) -> Stepped:
    """Refused unless the handle is current; if protected, it takes a reference.   [SC-27, SC-43]"""
    if "replay" not in config.accidents or not may_begin(config, state, 1):
        return state, DISABLED
    if operation.is_outdated:
        return state, REFUSED if operation.key in state.outdated else DISABLED
    place = moves.place_of(state.store, operation.key)
    if place is None:
        return state, DISABLED
    entry = state.store.entries[place]
    is_referenced = config.references_validated
    feature = Feature(
        Item(entry.key, entry.content), moves.handle_at(state.store, place), is_referenced=is_referenced
    )
    store = moves.look_up(state.store, place) if is_referenced else state.store
    after = state._replace(store=store, channel=(*state.channel, message(config, (feature,), 1)))
    return after, Outcome("referenced" if is_referenced else "accepted", carried((feature,)))
