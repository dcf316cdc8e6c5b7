"""One scenario of a target on the way to its verdict, in stages that can be left and taken up again.

Stage 0 runs the schedules without a preemption, stage 1 those with one, and so on; the last one, if it is
asked for, runs random schedules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.findings import Finding, told
from mmcache_ref.oracle.interleaving.linearize import Unexplained
from mmcache_ref.oracle.interleaving.pct import RandomPriorities
from mmcache_ref.oracle.interleaving.scenario import AnyScenario
from mmcache_ref.oracle.interleaving.schedules import schedule_of
from mmcache_ref.oracle.interleaving.shrink import fewer_calls, fewer_changes, fewer_preemptions
from mmcache_ref.oracle.interleaving.subject import Played, SetUpWrong
from mmcache_ref.oracle.interleaving.trial import RunFailed, Trial
from mmcache_ref.oracle.interleaving.verdicts import OUT_OF_TIME, Options, ScenarioVerdict, status_of

CHANGES: Final = 3
"""Changes of priority in a random schedule."""

Observe = Callable[[str, int], None]
"""Told the scenario and how many schedules were run."""
Runs = Iterator[tuple[Played, int | None]]
"""Runs, with the seeds of random ones."""


class Inquiry:
    """Runs the schedules of a scenario; of each broken clause it keeps the first one that breaks it."""

    def __init__(self, namespace: Any, scenario: AnyScenario, options: Options, observe: Observe) -> None:
        self._scenario = scenario
        self._options = options
        self._observe = observe
        self._trial = Trial(namespace, scenario, bytecodes=options.bytecodes)
        self._level = self._trial.exploration(max(options.preemptions, 1))
        self._stages = [self._preempted(number) for number in range(options.preemptions + 1)]
        if options.schedules:
            self._stages.append(self._random())
        self._found: dict[str, Finding] = {}
        self._complete = 0
        self._reason = ""
        self._is_offered = True
        self._seconds = 0.0

    def advance(self, stage: int, end: float | None) -> bool:
        """Run the schedules of a stage, until a moment if there is a bound; is there nothing left to run?"""
        if self._reason:
            return True
        begin = time.monotonic()
        try:
            while end is None or time.monotonic() < end:
                following = next(self._stages[stage], None)
                if following is None:
                    self._complete = stage + 1
                    return True
                self._judge(*following)
        except NotOffered as error:
            self._reason, self._is_offered = str(error), False
        except (RunFailed, Diverged, SetUpWrong) as error:
            self._reason = str(error)
        finally:
            self._seconds += time.monotonic() - begin
        return bool(self._reason)

    def verdict(self) -> ScenarioVerdict:
        """What was shown so far; what was not run is undetermined."""
        is_whole = self._complete == len(self._stages)
        reason = self._reason or ("" if is_whole else OUT_OF_TIME)
        findings = tuple(self._found.values())
        return ScenarioVerdict(
            self._scenario.name,
            self._scenario.title,
            status_of(findings, reason, self._is_offered),
            self._trial.runs,
            self._trial.steps,
            findings,
            reason,
            min(self._complete - 1, self._options.preemptions) if self._complete else None,
            round(self._seconds, 1),
        )

    def _preempted(self, number: int) -> Runs:
        """The runs with this number of preemptions.

        At the end of stage 1 it is known which lines change the segment. Those that do more than one thing
        are stopped within from then on: this is another program, of which one starts from the beginning.
        """
        for played in self._level(number):
            self._trial.note_written(played)
            yield played, None
        if number == 1 and not self._options.bytecodes and self._trial.divide_noted():
            self._level = self._trial.exploration(self._options.preemptions)
            for again in (0, 1):
                for played in self._level(again):
                    yield played, None

    def _random(self) -> Runs:
        """Random schedules, each with a seed of its own."""
        if self._options.preemptions == 0:
            self._trial.divide()
        threads = len(self._scenario.threads)
        for number in range(self._options.schedules):
            seed = self._options.seed + number
            yield self._trial.play(RandomPriorities(seed, threads, self._trial.steps, CHANGES)), seed

    def _judge(self, played: Played, seed: int | None) -> None:
        self._observe(self._scenario.name, self._trial.runs)
        wrong = self._trial.wrong(played)
        if wrong is not None and wrong.clause not in self._found:
            self._found[wrong.clause] = self._finding(played, wrong, seed)

    def _finding(self, played: Played, wrong: Unexplained, seed: int | None) -> Finding:
        """The finding, shrunk: fewer preemptions, then fewer calls, then fewer changes of thread."""
        trial = self._trial
        if seed is not None:
            played = fewer_preemptions(trial, played, wrong.clause)
        trial, played = fewer_calls(trial, played, wrong.clause)
        played = fewer_changes(trial, played, wrong.clause)
        played, lost = trial.follow(schedule_of(played.execution))
        repeated = trial.wrong(played)
        if repeated is None or lost:
            raise Diverged(f"{wrong.clause} was broken in a run that cannot be repeated")
        return told(trial.scenario, played, repeated, seed)
