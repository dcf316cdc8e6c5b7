"""What users of the shared-memory caches rely on, as properties of a search.   [spec/08-shm-caches.md]

Each property is judged from what can be seen: the state before and after, the operation, what was returned.
None of them asks the step functions what should have happened.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import ring_moves
from .component import Missed, Outcome, Raised, Refused
from .explore import Model, Property
from .shm_accident_steps import has_handles_under_way
from .shm_accidents import Abort, Clear, Die, Operation, Read, Reject, Replay, Resume, Strip, Submit
from .shm_accidents import SubmitAgain as Again
from .shm_counts import errors
from .shm_environment import Config
from .shm_requests import Carried, Feature, Message, Request, Running, State

Requesting = Submit | Reject
READS = frozenset({"read", "resume"})
REQUESTS = frozenset({"submit", "reject"})


def refused_first(
    config: Config, before: State, operation: Operation, outcome: Outcome, after: State
) -> bool | None:
    """A request that lacks data is refused, and nothing changes.   [SC-26]"""
    stored = {entry.key for entry in before.store.entries}
    request: Request = operation.request  # type: ignore[union-attr]
    missing = tuple([item.key for item in request if not item.supplied and item.key not in stored])
    if not missing:
        return None
    return outcome.result == Refused(missing) and after == before


def forged_refused(
    config: Config, before: State, operation: Operation, outcome: Outcome, after: State
) -> bool | None:
    """A client's handle that does not stand is refused, and nothing changes.   [SC-27]"""
    if isinstance(operation, Replay) and not operation.is_outdated:
        return None
    return isinstance(outcome.result, Raised) and after == before


def carried_in_order(
    config: Config, before: State, operation: Requesting, outcome: Outcome, after: State
) -> bool | None:
    """A message carries every item, in order, and its handles name current chunks.   [SC-28]"""
    if len(after.channel) == len(before.channel):
        return None
    current = {
        chunk.id: entry.key for chunk, entry in zip(after.store.ring.chunks, after.store.entries, strict=True)
    }
    features = after.channel[-1].features
    return [each.item.key for each in features] == [item.key for item in operation.request] and all(
        each.handle is None or current.get(each.handle.id) == each.item.key for each in features
    )


def read_by_all(
    config: Config, before: State, operation: Read, outcome: Outcome, after: State
) -> bool | None:
    """A request runs when every worker has read every child of it, and not before.   [SC-29]"""
    if after.is_dead:
        return None
    message = before.channel[operation.position]
    rest = sum(message.left) - message.left[operation.worker]
    is_last = rest == 0 and (message.left[operation.worker] == 1 or isinstance(outcome.result, Missed))
    return (len(after.channel) < len(before.channel)) is is_last


def handles_stay(config: Config, before: State, operation: Strip, outcome: Outcome, after: State) -> bool:
    """What is stripped has no handle, and the order of the items stays.   [SC-30]"""
    features, left = before.channel[operation.position].features, after.channel[operation.position].features
    return [each.item for each in features] == [each.item for each in left] and all(
        was.handle == now.handle for was, now in zip(features, left, strict=True)
    )


def _subject(before: State, operation: Read | Resume) -> Message | Running:
    """What is read."""
    if isinstance(operation, Read):
        return before.channel[operation.position]
    return before.running[operation.position]


def as_requested(
    config: Config, before: State, operation: Read | Resume, outcome: Outcome, after: State
) -> bool | None:
    """What is served is what was requested, in order; what was stripped is None.   [SC-31]"""
    if type(outcome.result) is not tuple or not outcome.result:
        return None
    features = _subject(before, operation).features
    wanted = tuple([None if each.is_stripped else each.item.content for each in features])
    answers = outcome.result if isinstance(operation, Resume) else (outcome.result,)
    return all(answer == wanted for answer in answers)


def nothing_gone(
    config: Config, before: State, operation: Read | Resume, outcome: Outcome, after: State
) -> bool | None:
    """A worker that reads a request finds every chunk in place.   [SC-32]"""
    subject = _subject(before, operation)
    if isinstance(subject, Message) and subject.is_release:
        return None
    return not (isinstance(outcome.result, Missed) or after.is_dead)


def exact_miss(
    config: Config, before: State, operation: Read | Resume, outcome: Outcome, after: State
) -> bool | None:
    """A miss names exactly the items whose chunk is gone, in order.   [SC-33]"""
    if after.is_dead:
        return None
    subject = _subject(before, operation)
    if isinstance(operation, Read) and (subject.is_release or subject.has_read[operation.worker]):  # type: ignore[union-attr]
        return None
    if isinstance(operation, Resume) and config.keeps_until_done:
        return None
    gone = tuple([each.item.key for each in subject.features if _is_gone(before, each)])
    return outcome.result == Missed(gone) if gone else not isinstance(outcome.result, Missed)


def _is_gone(state: State, feature: Feature) -> bool:
    """Whether the chunk of a feature's handle is gone."""
    return feature.handle is not None and all(
        chunk.id != feature.handle.id for chunk in state.store.ring.chunks
    )


def paid_once(config: Config, state: State) -> bool | None:
    """No chunk has more acknowledgements than its own references ask for.   [SC-34]"""
    return None if state.is_dead else all(error >= 0 for error in errors(state))


def nothing_stranded(config: Config, state: State) -> bool | None:
    """Every reference is acknowledged by all, or under way to those that have yet to.   [SC-35]"""
    return None if state.is_dead else all(error <= 0 for error in errors(state))


def reclaimable(model: Model, config: Config, state: State) -> list[Operation] | None:
    """When nothing is under way, any item that fits is stored, whatever is in the ring.   [SC-35, SC-36]"""
    for request in config.possible_requests:
        operation = Submit(request)
        if len(request) != 1 or config.is_too_large(request[0].content.nbytes):
            continue
        _, outcome = model.step(config, state, operation)
        is_handed_out = isinstance(outcome.result, tuple) and outcome.result[0].how == "handle"
        if not is_handed_out and not isinstance(outcome.result, Refused):
            return [operation]
    return None


def is_quiet(state: State) -> bool:
    """Whether nothing is under way."""
    return not (state.channel or state.running or state.retries or state.is_dead)


def refused_for_room(
    config: Config, before: State, operation: Requesting, outcome: Outcome, after: State
) -> bool | None:
    """An item that fits travels with its data only if what is held leaves no place for it.   [SC-36]

    Asked of requests for one item. Held is everything from the oldest chunk on that is not free.
    """
    if len(operation.request) != 1 or not isinstance(outcome.result, tuple):
        return None
    (item,), (carried,) = operation.request, outcome.result
    if config.is_too_large(item.content.nbytes) or not isinstance(carried, Carried) or carried.how != "item":
        return None
    workers = before.store.workers
    entries = before.store.entries
    first = next(
        (place for place, entry in enumerate(entries) if entry.acknowledged < entry.references * workers),
        len(entries),
    )
    held = ring_moves.drop_oldest(config.capacity, before.store.ring, first) if first else before.store.ring
    return ring_moves.place(config.capacity, held, item.content.nbytes) is None


def large_is_harmless(
    config: Config, before: State, operation: Requesting, outcome: Outcome, after: State
) -> bool | None:
    """A request for one item that is never stored leaves the store as it was.   [SC-37]"""
    if len(operation.request) != 1 or not config.is_too_large(operation.request[0].content.nbytes):
        return None
    return after.store.ring == before.store.ring and after.store.entries == before.store.entries


def ended_are_read(
    config: Config, before: State, operation: Reject | Abort, outcome: Outcome, after: State
) -> bool | None:
    """What is refused after its update, or aborted, is read by all the same.   [SC-38]"""
    if isinstance(outcome.result, Refused | Raised):
        return None
    return nothing_lost(before, after)


def nothing_lost(before: State, after: State) -> bool:
    """No chunk has more acknowledgements missing than before."""
    was = {chunk.id: error for chunk, error in zip(before.store.ring.chunks, errors(before), strict=True)}
    now = zip(after.store.ring.chunks, errors(after), strict=True)
    return all(error <= was.get(chunk.id, 0) for chunk, error in now)


def acknowledged_once(
    config: Config, before: State, operation: Read, outcome: Outcome, after: State
) -> bool | None:
    """A further child of a request acknowledges nothing.   [SC-39]"""
    if not before.channel[operation.position].has_read[operation.worker]:
        return None
    return after.store == before.store


def kept_until_done(config: Config, before: State, operation: Resume, outcome: Outcome, after: State) -> bool:
    """A request that resumes is served, and acknowledges nothing.   [SC-40]"""
    return after.store == before.store and isinstance(outcome.result, tuple)


def cleared_when_drained(
    config: Config, before: State, operation: Clear, outcome: Outcome, after: State
) -> bool:
    """Nothing is cleared while a handle is under way.   [SC-41]"""
    return after == before if outcome.kind == "deferred" else not has_handles_under_way(before)


def no_worker_dies(
    config: Config, before: State, operation: Read | Resume, outcome: Outcome, after: State
) -> bool:
    """A worker that finds a chunk gone lives on.   [SC-42]"""
    return not after.is_dead


def has_own_reference(
    config: Config, before: State, operation: Replay, outcome: Outcome, after: State
) -> bool | None:
    """A client's handle that is accepted is acknowledged for a reference of its own.   [SC-43]"""
    if operation.is_outdated:
        return None
    return all(each.is_referenced for each in after.channel[-1].features)


def dead_owes_nothing(config: Config, before: State, operation: Die, outcome: Outcome, after: State) -> bool:
    """No chunk waits for a dead worker, and every request under way will be retried.   [SC-44]"""
    ended = sum(not each.is_release for each in before.channel) + len(before.running)
    return nothing_lost(before, after) and len(after.retries) == len(before.retries) + ended


def has_retries(state: State) -> bool:
    """Whether a client has yet to send a request again, to an engine that lives."""
    return bool(state.retries) and not state.is_dead


def one_retry(model: Model, config: Config, state: State) -> list[Operation] | None:
    """One retry serves every item of its request, whatever else is under way.   [SC-45]

    Tried for each retry, at once: what is under way is not waited for.
    """
    if len(state.channel) + len(state.running) >= config.depth:
        return None
    for place, retry in enumerate(state.retries):
        operations: list[Operation] = [Again(place)]
        after, _ = model.step(config, state, operations[0])
        for worker in range(config.workers):
            for _ in range(retry.children):
                operations.append(Read(len(after.channel) - 1, worker))
                after, outcome = model.step(config, after, operations[-1])
                if outcome.result != tuple([item.content for item in retry.request]):
                    return operations
    return None


PROPERTIES: Mapping[str, Property] = {
    "refused-first": Property("SC-26", "step", refused_first, REQUESTS),
    "forged-refused": Property("SC-27", "step", forged_refused, frozenset({"forge", "replay"})),
    "carried-in-order": Property("SC-28", "step", carried_in_order, REQUESTS),
    "read-by-all": Property("SC-29", "step", read_by_all, frozenset({"read"})),
    "handles-stay": Property("SC-30", "step", handles_stay, frozenset({"strip"})),
    "as-requested": Property("SC-31", "step", as_requested, READS),
    "nothing-gone": Property("SC-32", "step", nothing_gone, READS),
    "exact-miss": Property("SC-33", "step", exact_miss, READS),
    "paid-once": Property("SC-34", "state", paid_once),
    "nothing-stranded": Property("SC-35", "state", nothing_stranded),
    "reclaimable": Property("SC-35", "recovery", reclaimable, tried=is_quiet),
    "refused-for-room": Property("SC-36", "step", refused_for_room, REQUESTS),
    "large-is-harmless": Property("SC-37", "step", large_is_harmless, REQUESTS),
    "ended-are-read": Property("SC-38", "step", ended_are_read, frozenset({"reject", "abort"})),
    "acknowledged-once": Property("SC-39", "step", acknowledged_once, frozenset({"read"})),
    "kept-until-done": Property("SC-40", "step", kept_until_done, frozenset({"resume"})),
    "cleared-when-drained": Property("SC-41", "step", cleared_when_drained, frozenset({"clear"})),
    "no-worker-dies": Property("SC-42", "step", no_worker_dies, READS),
    "has-own-reference": Property("SC-43", "step", has_own_reference, frozenset({"replay"})),
    "dead-owes-nothing": Property("SC-44", "step", dead_owes_nothing, frozenset({"worker-death"})),
    "one-retry": Property("SC-45", "recovery", one_retry, tried=has_retries),
}
