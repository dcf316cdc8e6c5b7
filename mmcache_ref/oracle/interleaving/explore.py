"""Every schedule with so many preemptions, each once, those with fewer first.

A preemption takes the processor from a thread that could go on; when a thread ends or waits, who goes on
costs nothing. Schedules are run, not stored: one is the choices in which it differs from letting every
thread go on.

One kind of schedule is left out. A thread T is preempted, another runs some steps, and T goes on. If none
of these steps writes, nor the next step of T, and no call ends on one side that begins on the other, then
they commute: the same happens when T is preempted one step later. Moved on like this the preemption comes
to a step of T that does not commute, or to where T ends, waits or is preempted anyway; the schedules left
are those, with no more preemptions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution, Step


class Preempted(NamedTuple):
    """At the decision `at` the thread was preempted that would have done the step `instead`."""

    at: int
    instead: Step


class Node(NamedTuple):
    """A schedule as the choices that are not the usual ones: number of the decision, thread."""

    choices: tuple[tuple[int, int], ...] = ()
    preemptions: int = 0
    preempted: Preempted | None = None


class Diverged(Exception):  # noqa: N818 - reads as what it is
    """A run did not repeat: the target does not do the same when it is asked the same."""


class Exploration:
    """Every schedule with up to `preemptions`, a level for each number of them.

    With `reduces` those that come to the same as another one are left out. A level may be left and entered
    again: it goes on where it was. It is complete when all levels below it are.
    """

    def __init__(self, run: Callable[[Choose], Execution], preemptions: int, *, reduces: bool = True) -> None:
        self._run = run
        self._preemptions = preemptions
        self._reduces = reduces
        self._waiting = [deque([Node()]), *(deque[Node]() for _ in range(preemptions))]

    def level(self, number: int) -> Iterator[tuple[Node, Execution]]:
        """Run the schedules with this number of preemptions."""
        queue = self._waiting[number]
        while queue:
            node = queue.popleft()
            execution = self._run(chooser(node))
            for child in children(node, execution.steps, self._preemptions, self._reduces):
                self._waiting[child.preemptions].append(child)
            yield node, execution


def explore(
    run: Callable[[Choose], Execution], preemptions: int, *, reduces: bool = True
) -> Iterator[tuple[Node, Execution]]:
    """Run every schedule with up to so many preemptions, in the order of their number."""
    exploration = Exploration(run, preemptions, reduces=reduces)
    for number in range(preemptions + 1):
        yield from exploration.level(number)


def chooser(node: Node) -> Choose:
    """Chooses as the node says, and else lets whoever arrived go on."""
    choices = dict(node.choices)

    def choose(execution: Execution, arrived: int, enabled: tuple[int, ...]) -> int:
        chosen = choices.get(len(execution.steps))
        if chosen is None:
            return arrived if arrived in enabled else enabled[0]
        if chosen not in enabled:
            raise Diverged(f"{execution.names[chosen]} could go on here when this was run before")
        return chosen

    return choose


def children(node: Node, steps: Sequence[Step], preemptions: int, reduces: bool = True) -> Iterator[Node]:
    """The schedules with one more unusual choice, behind those that the node has."""
    begin = node.choices[-1][0] + 1 if node.choices else 0
    before = node.preempted if reduces else None
    commutes = before is not None
    for place in range(before.at if before else begin, len(steps)):
        step = steps[place]
        if place >= begin:
            is_preemption = step.arrived in step.enabled
            total = node.preemptions + is_preemption
            preempted = Preempted(place, step) if is_preemption else None
            for thread in step.enabled:
                comes_back = commutes and before is not None and thread == before.instead.thread
                if thread != step.thread and total <= preemptions and not comes_back:
                    yield Node((*node.choices, (place, thread)), total, preempted)
        if before is not None:
            is_other = step.thread != before.instead.thread
            commutes = commutes and is_other and step.commutes_with(before.instead)
