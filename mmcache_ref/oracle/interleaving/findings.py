"""What a schedule showed: the clause, a sentence, and the run as it is shown."""

from __future__ import annotations

from typing import Any

import msgspec

from mmcache_ref.model.component import Raised, tag
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.interleaving.linearize import Unexplained
from mmcache_ref.oracle.interleaving.scenario import HANDED, AnyCall, AnyScenario, Call
from mmcache_ref.oracle.interleaving.schedules import Schedule, schedule_of
from mmcache_ref.oracle.interleaving.subject import Done, Played
from mmcache_ref.oracle.run import plain
from mmcache_ref.oracle.wording import operation_in_words, results_in_words


class Lane(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a run as it is shown: the thread, the line, what it did to what is shared, and the call
    that began or ended with it."""

    thread: str
    path: str
    line: int
    writes: bool = False
    locks: bool = False
    is_preempted: bool = False
    begins: str = ""
    gives: str = ""


class Finding(msgspec.Struct, frozen=True):
    """A clause that a schedule breaks.

    `says` is the sentence about it; `seed` that of the random schedule, where it was one.
    `is_left_to_protocol`: no store keeps the clause in this scenario.
    """

    clause: str
    rule: str
    says: str
    preemptions: int
    scenario: AnyScenario
    schedule: Schedule
    lanes: tuple[Lane, ...]
    is_left_to_protocol: bool = False
    seed: int | None = None


def preemptions_of(played: Played) -> int:
    """How many preemptions the run had."""
    return sum(step.is_preemption for step in played.execution.steps)


def told(scenario: AnyScenario, played: Played, wrong: Unexplained, seed: int | None = None) -> Finding:
    """The finding as it is reported."""
    return Finding(
        wrong.clause,
        clause(wrong.clause).rule,
        in_words(wrong),
        preemptions_of(played),
        scenario,
        schedule_of(played.execution),
        lanes(scenario, played),
        wrong.clause in scenario.left_to_protocol,
        seed,
    )


def in_words(wrong: Unexplained) -> str:
    """What no order explains, as a sentence."""
    order = ", then ".join(_call_in_words(each) for each in wrong.order)
    if wrong.call is not None:
        came = f"after {order}" if order else "at first"
        must = " or ".join(dict.fromkeys(map(_gives, wrong.others)))
        elsewhere = f", in another order it {must}" if must else ""
        return (
            f"{_call_in_words(wrong.call)} gave {results_in_words(plain(wrong.actual))}, which it does in no "
            f"order of whole calls: {came} it {_gives(wrong.expected)}{elsewhere}"
        )
    if not order:
        return f"{results_in_words(plain(wrong.actual))}: no thread can go on"
    return (
        f"every result is right, but {wrong.aspect} at the end are {results_in_words(plain(wrong.actual))}; "
        f"after {order} they must be {results_in_words(plain(wrong.expected))}"
    )


def _gives(result: Any) -> str:
    """What a call must give, or the exception that it must raise."""
    if isinstance(result, Raised):
        says = f" that says {result.says!r}" if result.says else ""
        return f"raises {result.error}{says}"
    return f"gives {results_in_words(plain(result))}"


def _call_in_words(done: Done) -> str:
    return f"{call_in_words(done.call)} ({done.thread})"


def call_in_words(call: AnyCall) -> str:
    """A call as its name and what it is given."""
    if isinstance(call, Call) and isinstance(call.operation, HANDED):
        which = f" by its handle number {call.issue}" if call.issue else " by an early handle" * call.is_early
        return f"{tag(call.operation)} {call.operation.key}{which}"
    return operation_in_words(call.operation)


def lanes(scenario: AnyScenario, played: Played) -> tuple[Lane, ...]:
    """The steps of a run as they are shown."""
    steps = played.execution.steps
    begun = dict.fromkeys(list(scenario.threads), 0)
    results = {(each.thread, each.number): each.result for each in played.history}
    shown = []
    for number, step in enumerate(steps):
        thread = list(scenario.threads)[step.thread]
        begins = gives = ""
        if step.begins:
            begins = call_in_words(scenario.threads[thread][begun[thread]])
            begun[thread] += 1
        if step.ends:
            gives = results_in_words(plain(results[thread, begun[thread] - 1]))
        is_preempted = number + 1 < len(steps) and steps[number + 1].is_preemption
        shown.append(
            Lane(
                thread, step.place.path, step.place.line, step.writes, step.locks, is_preempted, begins, gives
            )
        )
    return tuple(shown)
