"""Which clause of the object store is broken when no order of calls explains a run."""

from __future__ import annotations

from typing import Any

from mmcache_ref.model import object_store
from mmcache_ref.model.component import Outcome, tag
from mmcache_ref.oracle.adapters.base import agrees
from mmcache_ref.oracle.interleaving.subject import Done, Order, Played

WRITING = (object_store.Put, object_store.PutFailing, object_store.Clear, object_store.FreeUnused)
"""Operations in which chunks come or go."""
PUTTING = (object_store.Put, object_store.PutFailing)


def _is_beside(played: Played, done: Done, kinds: tuple[type, ...]) -> bool:
    """Was a call of one of these kinds under way meanwhile?"""
    return any(isinstance(other.call.operation, kinds) and other.overlaps(done) for other in played.history)


def _is_overtaken(played: Played, done: Done) -> bool:
    """Did the writer free, clear or put while a reader was at its object?"""
    return isinstance(done.call.operation, object_store.Get) and _is_beside(played, done, WRITING)


def clause_of_result(played: Played, done: Done, outcome: Outcome) -> str:
    """The clause that a wrong result breaks: that of an early handle, of a reader that is overtaken, of what
    a failed put left behind, of a count that comes too soon for a put or gets lost beside it, of ids that
    begin anew after a clear, or the usual."""
    if getattr(done.call, "is_early", False):
        return "OS-08"
    if played.has(object_store.PutFailing) and getattr(done.result, "error", "") == "KeyError":
        return "OS-07"
    if _is_overtaken(played, done):
        return "OS-41"
    if isinstance(done.call.operation, PUTTING) and _is_beside(played, done, (object_store.Get,)):
        if outcome.result == object_store.NO_ROOM and isinstance(done.result, tuple):
            return "OS-23"
        if agrees(object_store.NO_ROOM, done.result):
            return "OS-32"
    is_put = isinstance(done.call.operation, object_store.Put)
    if is_put and isinstance(done.result, tuple) and played.has(object_store.Clear):
        return "OS-29"
    return object_store.RULES[tag(done.call.operation), outcome.kind].outcome


def clause_of_rest(played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
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
