"""The key-replicated pair as a whole: P0, channel, P1, misses, retries.   [spec/04-key-replicated.md]

One operation is one call of the API or one step of the environment; P0 handles a request in one piece, on one
thread, unless the accident `invalidate-race` splits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from . import entries as moves
from .accident_steps import AWAITS_CLEAR, DEFERRED, HELD_BACK, invalidate, without
from .accident_steps import STEPS as ACCIDENT_STEPS
from .accidents import (
    Abort,
    AccidentOperation,
    Bypass,
    Check,
    ClearBoth,
    ClearP0,
    ClearP1,
    Drop,
    DryRun,
    FinishClear,
    LoseReport,
    Reject,
    RestartP1,
    SecondEngine,
    SecondFrontEnd,
    Update,
)
from .component import Missed, Op, Outcome
from .entries import Entries
from .environment import ACCIDENTS, PRESETS, PROTECTIONS, Config, configure
from .key_replicated_rules import ASPECTS, RULES
from .pair import Message, Report, Request, State, check, ingest, merge, serve_without_cache
from .servable import DISABLED, Stepped, open_requests, unsupplied

NAME = "key-replicated"

__all__ = [
    "ACCIDENTS",
    "ASPECTS",
    "NAME",
    "PRESETS",
    "PROTECTIONS",
    "RULES",
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


class Submit(Op, frozen=True, tag="submit"):
    """P0: check, merge step, and sending."""

    request: Request


class Deliver(Op, frozen=True, tag="deliver"):
    """P1: `get_and_update_features` on the message at this place of the channel."""

    position: int = 0


class HandleReport(Op, frozen=True, tag="handle-report"):
    """P0: `invalidate` for each hash of the miss at this place."""

    position: int = 0


class SubmitAgain(Op, frozen=True, tag="retry"):
    """P0: as `submit`, for the retry at this place, with all its data."""

    position: int = 0


Operation = Submit | Deliver | HandleReport | SubmitAgain | AccidentOperation


def initial(config: Config) -> State:
    """Two empty caches and an empty channel."""
    return State()


def operations(config: Config, state: State) -> list[Operation]:
    """Every operation that is enabled.

    What is enabled depends on the shape of the state alone, not on what the caches hold.
    """
    shape = (
        len(state.channel),
        len(state.reports),
        len(state.retries),
        state.checked is None,
        state.p0_number,
        state.p1_number,
        state.clearing,
        tuple([message.number for message in state.channel]) if state.clearing else None,
    )
    enabled: list[Operation] | None = config.enabled.get(shape)
    if enabled is None:
        enabled = [
            operation for operation in alphabet(config) if step(config, state, operation)[1] is not DISABLED
        ]
        config.enabled[shape] = enabled
    return enabled


def alphabet(config: Config) -> list[Operation]:
    """Every operation with every request and place of the configuration."""
    letters: list[Operation] = []
    for request in config.possible_requests:
        letters += [Submit(request), Reject(request), DryRun(request), Bypass(request), Check(request)]
        letters += [SecondFrontEnd(request), SecondEngine(request)]
    for position in range(config.depth):
        letters += [Deliver(position), HandleReport(position), SubmitAgain(position)]
        letters += [Abort(position), Drop(position), LoseReport(position)]
    return [*letters, Update(), ClearP0(), ClearP1(), ClearBoth(), FinishClear(), RestartP1()]


def step(config: Config, state: State, operation: Operation) -> Stepped:
    """One operation; what is not enabled is `disabled` and changes nothing."""
    return STEPS[type(operation)](config, state, operation)


def _send(
    config: Config, state: State, sender: Entries, request: Request, cached: tuple[bool, ...]
) -> Stepped:
    """The merge step and sending.   [DR-01, DR-03]

    The touches end with it: nothing of the request is left in P0 but the entries. After an assertion nothing
    is sent, and what was recorded before it stays.
    """
    merged = merge(config.budget, config.keep_touched, config.grouped, sender, request, cached)
    channel = state.channel
    if merged.features is not None:
        channel = (*channel, Message(merged.features, state.p0_number))
    after = State(
        merged.sender,
        state.receiver,
        channel,
        state.reports,
        state.retries,
        None,
        state.p0_number,
        state.p1_number,
        state.clearing,
        state.second_sender,
        state.second_receiver,
    )
    return after, merged.outcome


def _submit(config: Config, state: State, operation: Submit) -> Stepped:
    """One request from its check to the channel.   [DR-01, DR-02]"""
    if state.checked is not None or open_requests(state) >= config.depth:
        return state, DISABLED
    request = operation.request
    if refusal := unsupplied(state, request):
        return state, refusal
    return _send(config, state, state.sender, request, check(state.sender, request))


def _update(config: Config, state: State, operation: Update) -> Stepped:
    """The rest of a request that was checked before.   [DR-18]"""
    if state.checked is None:
        return state, DISABLED
    return _send(config, state, state.sender, *state.checked)


def _retry(config: Config, state: State, operation: SubmitAgain) -> Stepped:
    """A request once more, with all its data.   [DR-09]

    With `resend-all` P0 first forgets every hash of it, so that it claims nothing.
    """
    if state.checked is not None or not 0 <= operation.position < len(state.retries):
        return state, DISABLED
    request = state.retries[operation.position].request
    sender = state.sender
    if config.resend_all:
        for item in request:
            sender = moves.remove(sender, item.key)
    before = state._replace(retries=without(state.retries, operation.position))
    return _send(config, before, sender, request, check(sender, request))


def _deliver(config: Config, state: State, operation: Deliver) -> Stepped:
    """P1 ingests a message, and reports a miss.   [DR-04, DR-05, DR-14, DR-15, DR-17]

    With `ordered-delivery` it is held back while anything that was sent before it has yet to arrive.
    With `epoch` a newer number clears P1 first, and an older message only has its data served: it is neither
    stored nor looked up, since P0 no longer accounts for it.
    """
    place, channel, number = operation.position, state.channel, state.p1_number
    if not 0 <= place < len(channel) or (place and "reorder" not in config.accidents):
        return state, DISABLED
    message = channel[place]
    if config.ordered and place:
        return state, HELD_BACK
    if config.ordered and state.clearing and message.number >= state.clearing:
        return state, AWAITS_CLEAR
    receiver, reports = state.receiver, state.reports
    is_cleared = config.by_epoch and message.number > number
    if is_cleared:
        receiver = ()
    number = max(number, message.number)
    if config.by_epoch and message.number < number:
        outcome = serve_without_cache(message.features, "set-aside")
    elif config.recorded_only and not message.recorded:
        outcome = serve_without_cache(message.features, "unrecorded")
    else:
        receiver, outcome = ingest(config.budget, config.keep_touched, receiver, message.features)
    if is_cleared:
        outcome = Outcome("cleared-first", outcome.result, (outcome.kind, *outcome.also))
    if type(outcome.result) is Missed:
        reports = (*reports, Report(message.request, outcome.result.hashes, number, message.number))
    after = State(
        state.sender,
        receiver,
        channel[:place] + channel[place + 1 :],
        reports,
        state.retries,
        state.checked,
        state.p0_number,
        number,
        state.clearing,
        state.second_sender,
        state.second_receiver,
    )
    return after, outcome


def _handle_report(config: Config, state: State, operation: HandleReport) -> Stepped:
    """P0 hears of a miss; the client will retry.   [DR-05, DR-15, DR-18]"""
    if not 0 <= operation.position < len(state.reports):
        return state, DISABLED
    if config.serialised and state.checked is not None:
        return state, DEFERRED
    return invalidate(config, state, operation.position)


STEPS: Mapping[type[Op], Callable[[Config, State, Any], Stepped]] = {
    Submit: _submit,
    Deliver: _deliver,
    HandleReport: _handle_report,
    SubmitAgain: _retry,
    Update: _update,
    **ACCIDENT_STEPS,
}


def bare(config: Config) -> Config:
    """The configuration without the requests, which only a search needs."""
    return replace(config, requests=())


def view(state: State) -> State:
    """The whole state: nothing in it is left out of a search."""
    return state


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of both sides and what lies between.   [LRU-01, LRU-02, KR-07]

    `p0.number`: of the last clear that P0 knows of; an adapter shows it after a report, which may tell.
    `p0.uncounted`: hits and lookups that the sender's statistics lack, by what its updates returned.
    `checked`: is a request between its check and its update; `work`: counts that are not what they must be.
    `under-way`: how many messages, reports and retries there are, and the number of a clear. `channel`: the
    number and the keys of each message; `reports`: what each names, P1's number, and that of its message.
    """
    return {
        "p0.order": moves.keys(state.sender),
        "p0.length": len(state.sender),
        "p0.bytes": moves.size(state.sender),
        "p1.order": moves.keys(state.receiver),
        "p1.length": len(state.receiver),
        "p1.bytes": moves.size(state.receiver),
        "p0.number": state.p0_number,
        "p1.number": state.p1_number,
        "p0.uncounted": (0, 0),
        "under-way": (len(state.channel), len(state.reports), len(state.retries), state.clearing),
        "checked": state.checked is not None,
        "work": (),
        "channel": tuple([(message.number, _keys(message.request)) for message in state.channel]),
        "reports": tuple([(report.missing, report.number, report.sent_under) for report in state.reports]),
    }


def _keys(request: Request) -> tuple[str, ...]:
    return tuple([item.key for item in request])
