"""The accidents as operations: what the environment does to the pair.   [spec/05-drift.md]

Each is off until a configuration names it; until then, and wherever it makes no sense, its outcome is
`disabled`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import entries as moves
from .component import Missed, Op, Outcome, Rule, rule
from .environment import Config
from .pair import RARE, Checked, Feature, Message, Report, Request, Retry, State, check, ingest, merge

Stepped = tuple[State, Outcome]
DISABLED = Outcome("disabled")
DEFERRED = Outcome("deferred", False)
"""It has to wait for the request that was checked.   [DR-18]"""
HELD_BACK = Outcome("held-back", False)
"""It has to wait for the messages that were sent before.   [DR-14]"""
AWAITS_CLEAR = Outcome("awaits-clear", False)
"""It has to wait for a clear that was sent before.   [DR-15]"""
UNSUPPLIED = Outcome("unsupplied")


class Reject(Op, frozen=True, tag="reject"):
    """A request goes through P0's update, is then refused, and never sent."""

    request: Request


class DryRun(Op, frozen=True, tag="dry-run"):
    """A request goes through P0's update for its result only, and is never sent."""

    request: Request


class Bypass(Op, frozen=True, tag="bypass"):
    """A request is put into the channel, with its data and without P0."""

    request: Request


class Abort(Op, frozen=True, tag="abort"):
    """The message at this place of the channel is taken out."""

    position: int


class Drop(Op, frozen=True, tag="drop"):
    """The message at this place of the channel is lost."""

    position: int


class LoseReport(Op, frozen=True, tag="lose-report"):
    """The client will retry, and P0 is not told why."""

    position: int


class Check(Op, frozen=True, tag="check"):
    """The first half of a submit: `is_cached` for every hash."""

    request: Request


class Update(Op, frozen=True, tag="update"):
    """The second half of a submit: the merge step of the checked request, and sending it."""


class ClearP0(Op, frozen=True, tag="clear-p0"):
    """`sender.clear_cache()`"""


class ClearP1(Op, frozen=True, tag="clear-p1"):
    """`receiver.clear_cache()`"""


class ClearBoth(Op, frozen=True, tag="clear-both"):
    """`sender.clear_cache()`, and P1 is asked to follow."""


class FinishClear(Op, frozen=True, tag="finish-clear"):
    """P1 does what `clear-both` asked for: `receiver.clear_cache()`."""


class RestartP1(Op, frozen=True, tag="restart-p1"):
    """P1 starts again with an empty cache; what was in the channel is gone."""


class SecondFrontEnd(Op, frozen=True, tag="second-front-end"):
    """Another P0 handles a request of its own, from its check to P1's answer."""

    request: Request


class SecondEngine(Op, frozen=True, tag="second-engine"):
    """P0 handles a request that another P1 ingests at once."""

    request: Request


AccidentOperation = (
    Reject
    | DryRun
    | Bypass
    | Abort
    | Drop
    | LoseReport
    | Check
    | Update
    | ClearP0
    | ClearP1
    | ClearBoth
    | FinishClear
    | RestartP1
    | SecondFrontEnd
    | SecondEngine
)


def open_requests(state: State) -> int:
    """How many requests are under way: checked, in the channel, missed, or to be retried."""
    return len(state.channel) + len(state.reports) + len(state.retries) + (state.checked is not None)


def is_servable(state: State, request: Request) -> bool:
    """Whether each item is cached in P0 or supplied by the client.   [DR-02]"""
    return all(item.supplied for item in request) or all(
        item.supplied or cached for item, cached in zip(request, check(state.sender, request), strict=True)
    )


def _refused(config: Config, state: State, request: Request, accident: str, kind: str) -> Stepped:
    """A request that is not sent after its update.   [DR-13]

    With `rollback` it has no update: P0 updates as it sends, after all that may refuse a request.
    """
    if accident not in config.accidents or state.checked is not None:
        return state, DISABLED
    if not is_servable(state, request):
        return state, UNSUPPLIED
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
    if not is_servable(state, operation.request):
        return state, UNSUPPLIED
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


def second_front_end(config: Config, state: State, operation: SecondFrontEnd) -> Stepped:
    """Another P0's request, from its check to P1's answer and the report of a miss.   [DR-21]

    With `paired` the other P0 has no replicated cache: it sends all data, and P1 keeps none of it.
    """
    request = operation.request
    if "second-front-end" not in config.accidents:
        return state, DISABLED
    if config.paired:
        return state, _unshared(request)
    cached = check(state.second_sender, request)
    if not all(item.supplied or hit for item, hit in zip(request, cached, strict=True)):
        return state, UNSUPPLIED
    merged = merge(config.budget, config.keep_touched, config.grouped, state.second_sender, request, cached)
    if merged.features is None:
        return state._replace(second_sender=merged.sender), merged.outcome
    receiver, outcome = ingest(config.budget, config.keep_touched, state.receiver, merged.features)
    sender = merged.sender
    for key in outcome.result.hashes if type(outcome.result) is Missed else ():
        sender = moves.remove(sender, key)
    return state._replace(second_sender=sender, receiver=receiver), _on_both_sides(merged.outcome, outcome)


def second_engine(config: Config, state: State, operation: SecondEngine) -> Stepped:
    """P0's request to another P1, which ingests it at once; P0 hears of a miss as of any other.   [DR-21]

    With `paired` it leaves P0's cache alone: all data is sent, and the other P1 keeps none of it.
    """
    request = operation.request
    if (
        "second-engine" not in config.accidents
        or state.checked is not None
        or open_requests(state) >= config.depth
    ):
        return state, DISABLED
    if config.paired:
        return state, _unshared(request)
    if not is_servable(state, request):
        return state, UNSUPPLIED
    cached = check(state.sender, request)
    merged = merge(config.budget, config.keep_touched, config.grouped, state.sender, request, cached)
    if merged.features is None:
        return state._replace(sender=merged.sender), merged.outcome
    receiver, outcome = ingest(config.budget, config.keep_touched, state.second_receiver, merged.features)
    reports = state.reports
    if type(outcome.result) is Missed:
        reports = (*reports, Report(request, outcome.result.hashes, state.p0_number, state.p0_number))
    after = state._replace(sender=merged.sender, second_receiver=receiver, reports=reports)
    return after, _on_both_sides(merged.outcome, outcome)


def _on_both_sides(updated: Outcome, ingested: Outcome) -> Outcome:
    """The outcome in P1, with what happened in P0 among its parts, as `p0-sent` and so on."""
    parts = tuple([f"p0-{kind}" for kind in (updated.kind, *updated.also)])
    return ingested._replace(also=ingested.also + parts)


def _unshared(request: Request) -> Outcome:
    """A request outside the pair: served from its own data, or refused.   [DR-02, DR-21]"""
    if not all(item.supplied for item in request):
        return UNSUPPLIED
    return Outcome("unshared", tuple([item.content for item in request]))


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

UPDATING = {
    "claimed": rule("KR-02"),
    "sent": rule("KR-03"),
    "mixed": rule("IF-12", "IF-11"),
    "too-large": rule("KR-05"),
    "kept": rule("KR-13"),
    "asserted": rule("KR-04"),
}
"""What decides a merge step, by kind."""

INGESTING = {
    "claimed": rule("KR-10"),
    "sent": rule("KR-08"),
    "mixed": rule("IF-14"),
    "too-large": rule("KR-09"),
    "kept": rule("KR-14"),
    "missed": rule("IF-16", "IF-15"),
}
"""What decides an ingested message, by kind."""

RULES: Mapping[tuple[str, str], Rule] = {
    ("reject", "rejected"): rule("IF-12", "IF-11"),
    ("reject", "rolled-back"): rule("DR-13"),
    **{("reject", kind): clause for kind, clause in UPDATING.items()},
    ("reject", "unsupplied"): rule("DR-02"),
    ("dry-run", "discarded"): rule("IF-12", "IF-11"),
    ("dry-run", "rolled-back"): rule("DR-13"),
    **{("dry-run", kind): clause for kind, clause in UPDATING.items()},
    ("dry-run", "unsupplied"): rule("DR-02"),
    ("bypass", "bypassed"): rule("DR-17"),
    ("abort", "aborted"): rule("DR-22"),
    ("abort", "still-ingested"): rule("DR-22"),
    ("drop", "lost"): rule("DR-24"),
    ("drop", "sent-again"): rule("DR-24"),
    ("lose-report", "lost"): rule("DR-19"),
    **{("lose-report", kind): rule("DR-19") for kind in ("invalidated", "cleared", "outdated")},
    ("lose-report", "deferred"): rule("DR-18"),
    ("check", "checked"): rule("IF-06"),
    ("check", "unsupplied"): rule("DR-02"),
    ("clear-p0", "cleared"): rule("IF-05"),
    ("clear-p0", "deferred"): rule("DR-18"),
    ("clear-both", "deferred"): rule("DR-18"),
    ("finish-clear", "held-back"): rule("DR-14"),
    ("clear-p1", "cleared"): rule("IF-05"),
    ("clear-both", "cleared"): rule("IF-05"),
    ("finish-clear", "cleared"): rule("IF-05"),
    ("finish-clear", "ignored"): rule("DR-15"),
    ("restart-p1", "restarted"): rule("DR-15"),
    **{
        (second, kind): clause
        for second in ("second-front-end", "second-engine")
        for kind, clause in {
            **UPDATING,
            **INGESTING,
            "unsupplied": rule("DR-02"),
            "unshared": rule("DR-21"),
            **{f"p0-{kind}": clause for kind, clause in UPDATING.items()},
        }.items()
    },
}
