"""One scenario on one target: its schedules are run here, and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mmcache_ref.oracle.interleaving.deployment import ProtocolSubject
from mmcache_ref.oracle.interleaving.explore import Exploration
from mmcache_ref.oracle.interleaving.linearize import Unexplained, unexplained
from mmcache_ref.oracle.interleaving.playing import play
from mmcache_ref.oracle.interleaving.ring import RingSubject
from mmcache_ref.oracle.interleaving.scenario import AnyScenario, ProtocolScenario, RingScenario, Scenario
from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution
from mmcache_ref.oracle.interleaving.schedules import Follow, Schedule, lines_of
from mmcache_ref.oracle.interleaving.store import StoreSubject
from mmcache_ref.oracle.interleaving.subject import Played, Subject, World
from mmcache_ref.oracle.interleaving.tracing import Tracer

LOCK_CLAUSE = "OS-46"
"""Who takes the readers' lock gives it back."""


class RunFailed(Exception):  # noqa: N818 - reads as what it is
    """Nothing can be said about a run: a thread did not come back, or went round and round."""


class Form(NamedTuple):
    """What decides the judgement of a run: results, which call ended before which began, what was left."""

    results: frozenset[tuple[str, int, str]]
    before: frozenset[tuple[str, int, str, int]]
    left: str


def subject_of(scenario: AnyScenario) -> Subject:
    """The scenario with its model."""
    match scenario:
        case Scenario():
            return StoreSubject(scenario)
        case ProtocolScenario():
            return ProtocolSubject(scenario)
        case RingScenario():
            return RingSubject(scenario)


class Trial:
    """Runs schedules of a scenario on fresh segments.

    With `bytecodes` every line is stopped within; otherwise those that `divide` finds. With `everything` all
    lines are yield points, and no schedule is left out: nothing is taken for granted.
    """

    def __init__(
        self, namespace: Any, scenario: AnyScenario, *, bytecodes: bool = False, everything: bool = False
    ) -> None:
        self.scenario = scenario
        self.subject = subject_of(scenario)
        self.runs = 0
        self.steps = 0
        self._namespace = namespace
        self._bytecodes = bytecodes
        self._everything = everything
        self._fine: set[tuple[str, int]] = set()
        self._written: set[tuple[str, int]] = set()
        self._tracer: Tracer | None = None
        self._judged: dict[Form, Unexplained | None] = {}

    def of(self, part: AnyScenario) -> Trial:
        """A trial of the same target, in the same way, of a part of the scenario."""
        return Trial(self._namespace, part, bytecodes=self._bytecodes, everything=self._everything)

    @property
    def forms(self) -> list[Form]:
        """Every run that was judged, as far as runs can be told apart."""
        return list(self._judged)

    def play(self, choose: Choose) -> Played:
        """One run; `RunFailed` when nothing can be said about it."""
        self.runs += 1
        played = self._played(choose, self._tracer_for)
        self.steps = max(self.steps, len(played.execution.steps))
        return played

    def _played(self, choose: Choose, tracer: Callable[[World], Tracer]) -> Played:
        played = play(self._namespace, self.subject, choose, tracer)
        if played.execution.problem:
            raise RunFailed(played.execution.problem)
        return played

    def _tracer_for(self, store: World) -> Tracer:
        if self._tracer is None:
            self._tracer = Tracer(
                store.paths, fine=self._fine, all_fine=self._bytecodes, shares_objects=self._everything
            )
        return self._tracer

    def exploration(self, preemptions: int) -> Callable[[int], Iterator[Played]]:
        """Gives, for each number of preemptions up to this one, the runs with so many; lower ones first."""
        latest: list[Played] = []

        def run(choose: Choose) -> Execution:
            latest[:] = [self.play(choose)]
            return latest[0].execution

        found = Exploration(run, preemptions, reduces=not self._everything)

        def level(number: int) -> Iterator[Played]:
            for _ in found.level(number):
                yield latest[0]

        return level

    def explore(self, preemptions: int) -> Iterator[Played]:
        """Run every schedule with up to so many preemptions."""
        level = self.exploration(preemptions)
        for number in range(preemptions + 1):
            yield from level(number)

    def divide(self) -> None:
        """Look for lines that change the segment and do more than one thing; stop within them from now on."""
        for played in self.explore(1):
            self.note_written(played)
        self.divide_noted()

    def note_written(self, played: Played) -> None:
        """Note the lines of a run that change the segment."""
        self._written |= {
            (step.place.path, step.place.line) for step in played.execution.steps if step.writes
        }

    def divide_noted(self) -> bool:
        """Stop from now on within those of the noted lines that do more than one thing; are there any new?"""
        before = len(self._fine)
        if self._tracer is not None:
            self._fine |= self._tracer.divisible(self._written)
        self._tracer = None
        return len(self._fine) > before

    def follow(self, schedule: Schedule) -> tuple[Played, str]:
        """Run a schedule that is known; why it was not followed to its end, or nothing.

        It may name lines that are no yield points, since they touch nothing: then these are stopped at, too.
        """
        played, lost = self._followed(schedule, stops=False)
        return self._followed(schedule, stops=True) if lost else (played, lost)

    def _followed(self, schedule: Schedule, *, stops: bool) -> tuple[Played, str]:
        follow = Follow(list(self.scenario.threads), schedule)

        def tracer(world: World) -> Tracer:
            paths = sorted(world.paths)
            return Tracer(
                paths,
                fine=lines_of(schedule, paths, within=True),
                stops=lines_of(schedule, paths) if stops else (),
                shares_objects=self._everything,
            )

        played = self._played(follow, tracer)
        follow.end()
        return played, follow.lost

    def wrong(self, played: Played) -> Unexplained | None:
        """What is wrong with a run; runs that nobody can tell apart are judged once."""
        if played.execution.is_deadlocked:
            return _hangs("all wait for the lock")
        if played.is_lock_kept:
            return _hangs("the lock is never given back")
        form = _form(played)
        if form not in self._judged:
            self._judged[form] = unexplained(self.subject, played)
        return self._judged[form]


def _hangs(why: str) -> Unexplained:
    return Unexplained(LOCK_CLAUSE, "outcome", None, "every call ends", why, ())


def _form(played: Played) -> Form:
    """What decides the judgement of a run."""
    history = played.history
    before = {
        (mine.thread, mine.number, other.thread, other.number)
        for mine in history
        for other in history
        if mine.end < other.begin
    }
    results = {(each.thread, each.number, repr(each.result)) for each in history}
    return Form(frozenset(results), frozenset(before), repr(sorted(played.observation.items())))
