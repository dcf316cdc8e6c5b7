"""A P0 or a P1 too many: requests that come from another front-end, or go to another engine.   [DR-21]"""

from __future__ import annotations

from . import entries as moves
from .accidents import SecondEngine, SecondFrontEnd
from .component import Missed, Outcome
from .environment import Config
from .pair import Report, Request, State, check, ingest, merge
from .servable import DISABLED, Stepped, left_out, open_requests, unsupplied


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
    if refusal := left_out(request, cached):
        return state, refusal
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
    if refusal := unsupplied(state, request):
        return state, refusal
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
    refusal = left_out(request, [False] * len(request))
    return refusal or Outcome("unshared", tuple([item.content for item in request]))
