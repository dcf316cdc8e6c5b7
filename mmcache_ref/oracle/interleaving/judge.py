"""Every schedule of every scenario on a target, and the first that shows what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.findings import Finding, told
from mmcache_ref.oracle.interleaving.linearize import Unexplained
from mmcache_ref.oracle.interleaving.pct import RandomPriorities
from mmcache_ref.oracle.interleaving.scenario import AnyScenario
from mmcache_ref.oracle.interleaving.schedules import Schedule, schedule_of
from mmcache_ref.oracle.interleaving.shrink import fewer_calls, fewer_preemptions
from mmcache_ref.oracle.interleaving.subject import Played, SetUpWrong
from mmcache_ref.oracle.interleaving.trial import RunFailed, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.verdict import Status, worst

CHANGES: Final = 3
"""Changes of priority in a random schedule."""

ScenarioStatus = Literal["conforms", "violates", "undetermined", "not offered"]

Observe = Callable[[str, int], None]
"""Told the scenario and how many schedules were run."""


class Options(msgspec.Struct, frozen=True):
    """How far to look: every schedule up to so many `preemptions`, and then so many random `schedules` from
    `seed`. With `bytecodes` every line is stopped within. After so many `seconds` what was not run is
    undetermined."""

    preemptions: int = 2
    schedules: int = 0
    seed: int = 0
    bytecodes: bool = False
    seconds: float | None = None


class ScenarioVerdict(msgspec.Struct, frozen=True):
    """One scenario: how many schedules were run, with how many yield points at most, and what they showed.

    `not offered` is no verdict: the target lacks what the scenario needs.
    """

    name: str
    title: str
    status: ScenarioStatus
    schedules: int = 0
    steps: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""


class Interleaved(msgspec.Struct, frozen=True):
    """A target under all scenarios."""

    target: str
    options: Options
    scenarios: tuple[ScenarioVerdict, ...]

    @property
    def status(self) -> Status:
        """Violates, if any scenario does; else undetermined, if any is, or none could be run."""
        return worst(each.status for each in self.scenarios if each.status != "not offered")

    @property
    def broken(self) -> list[str]:
        """The clauses that are broken, in order."""
        found = {
            finding.clause
            for each in self.scenarios
            for finding in each.findings
            if not finding.is_left_to_protocol
        }
        return sorted(found)


def interleave(
    namespace: Any,
    target: str,
    scenarios: Sequence[AnyScenario],
    options: Options,
    observe: Observe = lambda name, runs: None,
) -> Interleaved:
    """Judge a target under these scenarios, one after the other.

    What an earlier judgement that was killed left in shared memory is removed first. Where there is a bound
    on the time, each scenario may take an equal share of what is left.
    """
    segments.sweep()
    end = None if options.seconds is None else time.monotonic() + options.seconds
    verdicts: list[ScenarioVerdict] = []
    for place, each in enumerate(scenarios):
        share = None if end is None else (end - time.monotonic()) / (len(scenarios) - place)
        bounded = msgspec.structs.replace(options, seconds=share)
        verdicts.append(judge(namespace, each, bounded, observe))
    return Interleaved(target, options, tuple(verdicts))


def judge(
    namespace: Any, scenario: AnyScenario, options: Options, observe: Observe = lambda name, runs: None
) -> ScenarioVerdict:
    """Run the schedules of a scenario; of each clause that is broken the first one that breaks it."""
    with quiet_logs():
        return _judged(Trial(namespace, scenario, bytecodes=options.bytecodes), options, observe)


def _judged(trial: Trial, options: Options, observe: Observe) -> ScenarioVerdict:
    scenario = trial.scenario
    found: dict[str, Finding] = {}
    reason = ""
    without: ScenarioStatus = "undetermined"
    end = None if options.seconds is None else time.monotonic() + options.seconds
    try:
        trial.divide()
        for played, seed in _runs(trial, options):
            if end is not None and time.monotonic() > end:
                raise RunFailed(f"the time ran out after {trial.runs:,} schedules")
            observe(scenario.name, trial.runs)
            wrong = trial.wrong(played)
            if wrong is not None and wrong.clause not in found:
                found[wrong.clause] = _finding(trial, played, wrong, seed)
    except NotOffered as error:
        reason, without = str(error), "not offered"
    except (RunFailed, Diverged, SetUpWrong) as error:
        reason = str(error)
    findings = tuple(found.values())
    status = _status(findings, reason, without)
    return ScenarioVerdict(scenario.name, scenario.title, status, trial.runs, trial.steps, findings, reason)


def _runs(trial: Trial, options: Options) -> Iterator[tuple[Played, int | None]]:
    """Every schedule up to the bound, then random ones with their seeds."""
    for played in trial.explore(options.preemptions):
        yield played, None
    for number in range(options.schedules):
        seed = options.seed + number
        threads = len(trial.scenario.threads)
        yield trial.play(RandomPriorities(seed, threads, trial.steps, CHANGES)), seed


def _status(
    findings: Sequence[Finding], reason: str, without: ScenarioStatus = "undetermined"
) -> ScenarioStatus:
    """What the findings come to; `without` any, where there is a reason why not all was looked at."""
    if any(not each.is_left_to_protocol for each in findings):
        return "violates"
    return without if reason else "conforms"


def _finding(trial: Trial, played: Played, wrong: Unexplained, seed: int | None) -> Finding:
    """The finding, shrunk: fewer preemptions, then fewer calls."""
    if seed is not None:
        played = fewer_preemptions(trial, played, wrong.clause)
    trial, played = fewer_calls(trial, played, wrong.clause)
    played, is_followed = trial.follow(schedule_of(played.execution))
    repeated = trial.wrong(played)
    if repeated is None or not is_followed:
        raise Diverged(f"{wrong.clause} was broken in a run that cannot be repeated")
    return told(trial.scenario, played, repeated, seed)


def replay(namespace: Any, scenario: AnyScenario, schedule: Schedule) -> ScenarioVerdict:
    """Run one schedule of a scenario."""
    trial = Trial(namespace, scenario)
    try:
        with quiet_logs():
            played, is_followed = trial.follow(schedule)
    except NotOffered as error:
        return ScenarioVerdict(scenario.name, scenario.title, "not offered", reason=str(error))
    except (RunFailed, SetUpWrong) as error:
        return ScenarioVerdict(scenario.name, scenario.title, "undetermined", 1, reason=str(error))
    reason = "" if is_followed else "the target does not come to the places of the schedule"
    wrong = trial.wrong(played)
    findings = (told(trial.scenario, played, wrong),) if wrong is not None else ()
    status = _status(findings, reason)
    steps = len(played.execution.steps)
    return ScenarioVerdict(scenario.name, scenario.title, status, 1, steps, findings, reason)
