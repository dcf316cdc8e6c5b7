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

from mmcache_ref.oracle.adapters.base import Unexpected, agrees, same
from mmcache_ref.oracle.interleaving.subject import Done, Order, Played, Subject
from mmcache_ref.oracle.lockstep import DISABLED


class Unexplained(NamedTuple):
    """What no order explains, in the order that explains most: the clause, what must be, and what was.

    `call` is the one whose result is wrong; None where it is what was left, of which `aspect` differs.
    `others` are what the call must give in other orders.
    """

    clause: str
    aspect: str
    call: Done | None
    expected: Any
    actual: Any
    order: tuple[Done, ...]
    others: tuple[Any, ...] = ()


class _Attempt(NamedTuple):
    """An order as far as it agrees; `rank` says how far that is, and what is worse of two as far.

    What no model gives in any state, as bytes that are no object, is worse than another result.
    """

    rank: tuple[int, int]
    unexplained: Unexplained


def unexplained(subject: Subject, played: Played) -> Unexplained | None:
    """What no order of the calls explains; None when one explains everything."""
    best: _Attempt | None = None
    wanted: list[tuple[Done | None, Any]] = []
    for attempt in _attempts(subject, played, subject.initial(), (), played.history):
        if attempt is None:
            return None
        each = attempt.unexplained
        if not any(call is each.call and expected == each.expected for call, expected in wanted):
            wanted.append((each.call, each.expected))
        if best is None or attempt.rank > best.rank:
            best = attempt
    if best is None:
        return None
    found = best.unexplained
    others = [
        expected
        for call, expected in wanted
        if call is not None and call is found.call and expected != found.expected
    ]
    return found._replace(others=tuple(others))


def _attempts(
    subject: Subject, played: Played, state: Any, order: Order, left: Sequence[Done]
) -> Iterator[_Attempt | None]:
    """Every way to go on with the calls that are left; None for one that explains everything."""
    if not left:
        yield _compare_end(subject, played, order, subject.observe(state))
        return
    for done in left:
        if any(other.end < done.begin for other in left):
            continue
        after, outcome = subject.step(state, done.call)
        if outcome.kind == DISABLED:
            continue
        if agrees(outcome.result, done.result):
            rest = [other for other in left if other is not done]
            yield from _attempts(subject, played, after, (*order, (done, outcome)), rest)
        else:
            clause = subject.clause_of_result(played, done, outcome)
            before = tuple([each for each, _ in order])
            found = Unexplained(clause, "outcome", done, outcome.result, done.result, before)
            yield _Attempt((len(order), int(isinstance(done.result, Unexpected))), found)


def _compare_end(
    subject: Subject, played: Played, order: Order, expected: Mapping[str, Any]
) -> _Attempt | None:
    """Is what was left what the model has at the end of this order?"""
    actual = played.observation
    wrong = [name for name in subject.aspects if name in actual and not same(expected[name], actual[name])]
    if not wrong:
        return None
    aspect = wrong[0]
    clause = subject.clause_of_rest(played, order, aspect, expected[aspect], actual[aspect])
    before = tuple([each for each, _ in order])
    found = Unexplained(clause, aspect, None, expected[aspect], actual[aspect], before)
    return _Attempt((len(order), -len(wrong)), found)
