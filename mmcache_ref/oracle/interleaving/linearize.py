"""Is a concurrent run explained by some order of whole calls?

Each call takes effect at one moment between its beginning and its end. So there must be an order of the
calls in which one that ended before another began comes first, and in which the pure model, call by call,
gives what each of them gave and ends in what was left. A `get` that overlaps a clear may come after it,
and get the documented error; half an object, or a count in a chunk that it does not belong to, comes from
no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from mmcache_ref.model import object_store
from mmcache_ref.model.component import Outcome, tag
from mmcache_ref.oracle.adapters.base import agrees, same
from mmcache_ref.oracle.interleaving.scenario import HANDED, Call, Scenario
from mmcache_ref.oracle.interleaving.store import Done, Played, initial_state

DISABLED = "disabled"
WRITING = (object_store.Put, object_store.PutFailing, object_store.Clear, object_store.FreeUnused)
"""Operations in which chunks come or go."""


class Unexplained(NamedTuple):
    """What no order explains, in the order that explains most: the clause, what must be, and what was.

    `call` is the one whose result is wrong; None where it is what was left, of which `aspect` differs.
    """

    clause: str
    aspect: str
    call: Done | None
    expected: Any
    actual: Any
    order: tuple[Done, ...]


class _Attempt(NamedTuple):
    """An order as far as it agrees; `rank` says how far that is."""

    rank: tuple[int, int]
    unexplained: Unexplained


Order = tuple[tuple[Done, Outcome], ...]
"""Calls in some order, with what the model says of each."""


def unexplained(scenario: Scenario, played: Played) -> Unexplained | None:
    """What no order of the calls explains; None when one explains everything."""
    best: _Attempt | None = None
    for attempt in _attempts(scenario, played, initial_state(scenario), (), played.history):
        if attempt is None:
            return None
        if best is None or attempt.rank > best.rank:
            best = attempt
    return best.unexplained if best else None


def _attempts(
    scenario: Scenario, played: Played, state: object_store.State, order: Order, left: Sequence[Done]
) -> Iterator[_Attempt | None]:
    """Every way to go on with the calls that are left; None for one that explains everything."""
    if not left:
        yield _compare_end(played, order, object_store.observe(scenario.config, state))
        return
    for done in left:
        if any(other.end < done.begin for other in left):
            continue
        after, outcome = step(scenario, state, done.call)
        if outcome.kind == DISABLED:
            continue
        if agrees(outcome.result, done.result):
            rest = [other for other in left if other is not done]
            yield from _attempts(scenario, played, after, (*order, (done, outcome)), rest)
        else:
            clause = _clause_of_result(played, done, outcome)
            before = tuple([each for each, _ in order])
            found = Unexplained(clause, "outcome", done, outcome.result, done.result, before)
            yield _Attempt((len(order), 0), found)


def step(scenario: Scenario, state: object_store.State, call: Call) -> tuple[object_store.State, Outcome]:
    """The model's step for a call: disabled where its handle is not issued yet."""
    operation = call.operation
    if isinstance(operation, HANDED):
        issued = sum(handle.key == operation.key for handle in state.handles)
        if call.issue >= issued:
            return state, Outcome("gone", object_store.MODIFIED) if call.is_early else Outcome(DISABLED)
        operation = msgspec.structs.replace(operation, back=issued - 1 - call.issue)
    return object_store.step(scenario.config, state, operation)


def _compare_end(played: Played, order: Order, expected: Mapping[str, Any]) -> _Attempt | None:
    """Is what was left what the model has at the end of this order?"""
    actual = played.observation
    wrong = [
        name for name in object_store.ASPECTS if name in actual and not same(expected[name], actual[name])
    ]
    if not wrong:
        return None
    aspect = wrong[0]
    clause = _clause_of_rest(played, order, aspect, expected[aspect], actual[aspect])
    before = tuple([each for each, _ in order])
    found = Unexplained(clause, aspect, None, expected[aspect], actual[aspect], before)
    return _Attempt((len(order), -len(wrong)), found)


def _is_overtaken(played: Played, done: Done) -> bool:
    """Did the writer free, clear or put while a reader was at its object?"""
    return isinstance(done.call.operation, object_store.Get) and any(
        isinstance(other.call.operation, WRITING) and other.begin < done.end and done.begin < other.end
        for other in played.history
    )


def _clause_of_result(played: Played, done: Done, outcome: Outcome) -> str:
    """The clause that a wrong result breaks: that of an early handle, of a reader that is overtaken, of what
    a failed put left behind, of ids that begin anew after a clear, or the usual."""
    if done.call.is_early:
        return "OS-08"
    has_failed = any(isinstance(each.call.operation, object_store.PutFailing) for each in played.history)
    if has_failed and getattr(done.result, "error", "") == "KeyError":
        return "OS-07"
    if _is_overtaken(played, done):
        return "OS-41"
    has_cleared = any(isinstance(each.call.operation, object_store.Clear) for each in played.history)
    if has_cleared and isinstance(done.result, tuple) and isinstance(done.call.operation, object_store.Put):
        return "OS-29"
    return object_store.RULES[tag(done.call.operation), outcome.kind].outcome


def _clause_of_rest(played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
    """The clause that is broken when what was left is wrong: a count too many is in a chunk to which it does
    not belong, and one too few was lost."""
    is_overtaken = any(_is_overtaken(played, done) for done in played.history)
    if aspect == "reads":
        is_more = any(mine > right for (_, mine), (_, right) in zip(actual, expected, strict=False))
        return "OS-23" if is_overtaken and is_more else "OS-32"
    if is_overtaken and aspect in ("contents", "headers"):
        return "OS-23"
    cases = [
        (tag(done.call.operation), outcome.kind)
        for done, outcome in order
        if isinstance(done.call.operation, WRITING)
    ]
    special = [found for case in cases if (found := object_store.CULPRITS.get((*case, aspect)))]
    usual = [object_store.RULES[case].state for case in cases]
    return object_store.ASPECTS[aspect].clause or (*special, *reversed(usual), "OS-30")[0]
