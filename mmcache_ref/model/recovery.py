"""Whether one retry serves what P1 missed.   [spec/05-drift.md]"""

from __future__ import annotations

from .accidents import FinishClear, Update
from .component import Op
from .environment import Config
from .explore import Model
from .key_replicated import Deliver, HandleReport, Submit, SubmitAgain
from .pair import Request, State


def is_quiet(state: State) -> bool:
    """Whether nothing is under way: no message, miss, retry, half request or half clear."""
    return not (state.channel or state.reports or state.retries or state.checked or state.clearing)


def one_retry(model: Model, config: Config, state: State) -> list[Op] | None:
    """What P1 misses while nothing else is under way, one retry serves, if it fits.   [DR-09]

    Tried for every possible request from every quiet state, however far the sides have drifted. A request
    that is larger than the budget is tried only with `keep-touched`: without it P0 may refuse the retry with
    an assertion (DR-12).
    """
    for request in config.possible_requests:
        if not config.keep_touched and "oversize" in config.needs(request):
            continue
        operations: list[Op] = [Submit(request), Deliver()]
        sent, _ = model.step(config, state, operations[0])
        if len(sent.channel) == 1:
            missed, _ = model.step(config, sent, operations[1])
            if missed.reports:
                told, _ = model.step(config, missed, HandleReport())
                ending = _retried(model, config, told, 0, request)
                if ending is not None:
                    return [*operations, HandleReport(), *ending]
    return None


def back_in_step(model: Model, config: Config, state: State) -> list[Op] | None:
    """After a miss and its retry both sides hold the same, if nothing else is under way.   [DR-25]

    Tried as `one_retry` is: for every possible request, from every quiet state.
    """
    for request in config.possible_requests:
        if not config.keep_touched and "oversize" in config.needs(request):
            continue
        operations: list[Op] = [Submit(request), Deliver()]
        sent, _ = model.step(config, state, operations[0])
        if len(sent.channel) != 1:
            continue
        after, _ = model.step(config, sent, operations[1])
        if after.reports:
            for operation in (HandleReport(), SubmitAgain(), Deliver()):
                after, _ = model.step(config, after, operation)
                operations.append(operation)
            if after.sender != after.receiver or after.p0_number != after.p1_number:
                return operations
    return None


def is_recoverable(state: State) -> bool:
    """Whether a miss is reported, or a retry waits of which P0 was not told why."""
    return bool(state.reports) or any(not retry.told for retry in state.retries)


def always_one_retry(model: Model, config: Config, state: State) -> list[Op] | None:
    """Whatever happened before and meanwhile, one retry serves the whole request.   [DR-23]

    Tried for each reported miss: everything in flight is delivered, the report is handled, the request is
    sent again and delivered. All its items must be served, also when together they exceed the budget.
    """
    arrived, operations = _arrive(model, config, state)
    for position, report in enumerate(state.reports):
        told, _ = model.step(config, arrived, HandleReport(position))
        ending = _retried(model, config, told, len(told.retries) - 1, report.request)
        if ending is not None:
            return [*operations, HandleReport(position), *ending]
    for place, retry in enumerate(state.retries):
        if not retry.told:
            ending = _retried(model, config, arrived, place, retry.request)
            if ending is not None:
                return [*operations, *ending]
    return None


def _arrive(model: Model, config: Config, state: State) -> tuple[State, list[Op]]:
    """The state after everything that was sent has arrived, and the operations that led there."""
    operations: list[Op] = []

    def make(operation: Op) -> bool:
        nonlocal state
        before = state
        state, _ = model.step(config, state, operation)
        if state == before:
            return False
        operations.append(operation)
        return True

    if state.checked is not None:
        make(Update())
    while state.channel:
        if not make(Deliver()) and not make(FinishClear()):
            break
    if state.clearing:
        make(FinishClear())
    return state, operations


def _retried(model: Model, config: Config, state: State, place: int, request: Request) -> list[Op] | None:
    """The operations of a retry that does not serve its request, or None when it does."""
    operations: list[Op] = [SubmitAgain(place)]
    sent, outcome = model.step(config, state, operations[0])
    if type(outcome.result) is tuple:
        operations.append(Deliver())
        _, outcome = model.step(config, sent, operations[1])
        if type(outcome.result) is tuple and len(outcome.result) == len(request):
            return None
    return operations
