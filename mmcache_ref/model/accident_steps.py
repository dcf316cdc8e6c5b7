"""What each accident does to the pair, and what stops it.   [spec/05-drift.md]

Where a protection stops an accident, the outcome says so, and the step changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import entries as moves
from .accidents import (
    Abort,
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
)
from .component import Op, Outcome
from .environment import Config
from .pair import RARE, Checked, Feature, Message, Request, Retry, State, check, merge
from .peers import second_engine, second_front_end
from .servable import DISABLED, Stepped, open_requests, unsupplied

DEFERRED = Outcome("deferred", False)
"""It has to wait for the request that was checked.   [DR-18]"""
HELD_BACK = Outcome("held-back", False)
"""It has to wait for the messages that were sent before.   [DR-14]"""
AWAITS_CLEAR = Outcome("awaits-clear", False)
"""It has to wait for a clear that was sent before.   [DR-15]"""


def _refused(config: Config, state: State, request: Request, accident: str, kind: str) -> Stepped:
    """A request that is not sent after its update.   [DR-13]

    With `rollback` it has no update: P0 updates as it sends, after all that may refuse a request.
    """
    if accident not in config.accidents or state.checked is not None:
        return state, DISABLED
    if refusal := unsupplied(state, request):
        return state, refusal
    if config.rolls_back:
        return state, Outcome("rolled-back")
    cached = check(state.sender, request)
    merged = merge(config.budget, config.keep_touched, config.grouped, state.sender, request, cached)
    parts = (merged.outcome.kind, *merged.outcome.also)
    if parts[0] in RARE:
        kind, parts = parts[0], parts[1:]
    return state._replace(sender=merged.sender), Outcome(kind, merged.outcome.result, parts)


def reject(config: Config, state: State, operation: Reject) -> Stepped:
    """Refused after the update.   [DR-13]"""
    return _refused(config, state, operation.request, "reject", "rejected")


def dry_run(config: Config, state: State, operation: DryRun) -> Stepped:
    """Updated for the result only.   [DR-13]"""
    return _refused(config, state, operation.request, "dry-run", "discarded")


def bypass(config: Config, state: State, operation: Bypass) -> Stepped:
    """Sent without P0, data and all.   [DR-17]"""
    if "bypass" not in config.accidents or open_requests(state) >= config.depth:
        return state, DISABLED
    features = tuple(
        [Feature(item._replace(supplied=True), True, item.content) for item in operation.request]
    )
    message = Message(features, state.p0_number, recorded=False)
    return state._replace(channel=(*state.channel, message)), Outcome("bypassed")


def abort(config: Config, state: State, operation: Abort) -> Stepped:
    """Taken out of the channel; with `ingest-aborted` only its answer is dropped.   [DR-22]"""
    if "abort" not in config.accidents or not 0 <= operation.position < len(state.channel):
        return state, DISABLED
    if config.ingests_aborted:
        return state, Outcome("still-ingested")
    return state._replace(channel=without(state.channel, operation.position)), Outcome("aborted")


def drop(config: Config, state: State, operation: Drop) -> Stepped:
    """Lost on its way; with `keep-data-until-sent` P0 sends it again, in its old place.   [DR-24]"""
    if "drop" not in config.accidents or not 0 <= operation.position < len(state.channel):
        return state, DISABLED
    if config.resends_lost:
        return state, Outcome("sent-again")
    return state._replace(channel=without(state.channel, operation.position)), Outcome("lost")


def lose_report(config: Config, state: State, operation: LoseReport) -> Stepped:
    """The retry comes without P0 having been told; with `report-always` it is told first.   [DR-19]"""
    if "lost-report" not in config.accidents or not 0 <= operation.position < len(state.reports):
        return state, DISABLED
    if config.reports_always:
        if config.serialised and state.checked is not None:
            return state, DEFERRED
        return invalidate(config, state, operation.position)
    retry = Retry(state.reports[operation.position].request, told=False)
    reports = without(state.reports, operation.position)
    return state._replace(reports=reports, retries=(*state.retries, retry)), Outcome("lost")


def check_request(config: Config, state: State, operation: Check) -> Stepped:
    """The check alone.   [DR-02, DR-18]"""
    if (
        "invalidate-race" not in config.accidents
        or state.checked is not None
        or open_requests(state) >= config.depth
    ):
        return state, DISABLED
    if refusal := unsupplied(state, operation.request):
        return state, refusal
    cached = check(state.sender, operation.request)
    return state._replace(checked=Checked(operation.request, cached)), Outcome("checked", cached)


def invalidate(config: Config, state: State, place: int) -> Stepped:
    """P0 hears of a miss; the client will retry.   [DR-05, DR-15]

    With `epoch` a newer number clears P0, and a miss of a message from before P0's last clear invalidates
    nothing: what it names may have been sent again since.
    """
    report = state.reports[place]
    sender, kind = state.sender, "invalidated"
    if config.by_epoch and report.number > state.p0_number:
        sender, kind = (), "cleared"
    elif config.by_epoch and report.sent_under < state.p0_number:
        kind = "outdated"
    else:
        for key in report.missing:
            sender = moves.remove(sender, key)
    after = state._replace(
        sender=sender,
        reports=without(state.reports, place),
        retries=(*state.retries, Retry(report.request)),
        p0_number=max(state.p0_number, report.number),
    )
    return after, Outcome(kind)


def clear_p0(config: Config, state: State, operation: ClearP0) -> Stepped:
    """P0 alone.   [DR-15]"""
    if "clear-p0" not in config.accidents or state.p0_number >= config.clears:
        return state, DISABLED
    if config.serialised and state.checked is not None:
        return state, DEFERRED
    return state._replace(sender=(), p0_number=state.p0_number + 1), Outcome("cleared")


def clear_p1(config: Config, state: State, operation: ClearP1) -> Stepped:
    """P1 alone.   [DR-15]"""
    if "clear-p1" not in config.accidents or state.p1_number >= config.clears:
        return state, DISABLED
    return state._replace(receiver=(), p1_number=state.p1_number + 1), Outcome("cleared")


def clear_both(config: Config, state: State, operation: ClearBoth) -> Stepped:
    """P0 now, P1 when it hears of it.   [DR-15]"""
    if "clear-both" not in config.accidents or state.p0_number >= config.clears or state.clearing:
        return state, DISABLED
    if config.serialised and state.checked is not None:
        return state, DEFERRED
    number = state.p0_number + 1
    return state._replace(sender=(), p0_number=number, clearing=number), Outcome("cleared")


def finish_clear(config: Config, state: State, operation: FinishClear) -> Stepped:
    """P1 hears of the clear; with `epoch` it ignores what it has already seen.   [DR-15]

    With `ordered-delivery` it hears of it only after everything that was sent before.
    """
    number = state.clearing
    if not number:
        return state, DISABLED
    if config.ordered and any(message.number < number for message in state.channel):
        return state, HELD_BACK
    if config.by_epoch and number <= state.p1_number:
        return state._replace(clearing=0), Outcome("ignored")
    return state._replace(receiver=(), p1_number=max(number, state.p1_number), clearing=0), Outcome("cleared")


def restart_p1(config: Config, state: State, operation: RestartP1) -> Stepped:
    """P1 is new and takes a number that neither side ever had.   [DR-15]

    One more than its own last number is not enough: P0 may have used that one for a message that is lost now.
    """
    number = max(state.p0_number, state.p1_number) + 1
    if "restart-p1" not in config.accidents or number > config.clears:
        return state, DISABLED
    return state._replace(receiver=(), channel=(), clearing=0, p1_number=number), Outcome("restarted")


def without(items: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    """The tuple without the item at this place."""
    return items[:position] + items[position + 1 :]


STEPS: Mapping[type[Op], Callable[[Config, State, Any], Stepped]] = {
    Reject: reject,
    DryRun: dry_run,
    Bypass: bypass,
    Abort: abort,
    Drop: drop,
    LoseReport: lose_report,
    Check: check_request,
    ClearP0: clear_p0,
    ClearP1: clear_p1,
    ClearBoth: clear_both,
    FinishClear: finish_clear,
    RestartP1: restart_p1,
    SecondFrontEnd: second_front_end,
    SecondEngine: second_engine,
}
