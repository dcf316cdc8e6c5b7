"""Every schedule of every scenario on a target, and the first that shows what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.findings import Finding, preemptions_of, told
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
    status: Literal["conforms", "violates", "undetermined", "not offered"]
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

    def trial_of(part: AnyScenario) -> Trial:
        return Trial(namespace, part, bytecodes=options.bytecodes)

    trial = trial_of(scenario)
    with quiet_logs():
        return _judged(trial, options, observe, trial_of)


def _judged(
    trial: Trial, options: Options, observe: Observe, trial_of: Callable[[AnyScenario], Trial]
) -> ScenarioVerdict:
    scenario = trial.scenario
    found: dict[str, Finding] = {}
    reason, is_offered = "", True
    end = None if options.seconds is None else time.monotonic() + options.seconds
    try:
        trial.divide()
        for played, seed in _runs(trial, options):
            if end is not None and time.monotonic() > end:
                raise RunFailed(f"the time ran out after {trial.runs:,} schedules")
            observe(scenario.name, trial.runs)
            wrong = trial.wrong(played)
            if wrong is not None and wrong.clause not in found:
                found[wrong.clause] = _finding(trial, played, wrong, seed, trial_of)
    except NotOffered as error:
        reason, is_offered = str(error), False
    except (RunFailed, Diverged, SetUpWrong) as error:
        reason = str(error)
    findings = tuple(found.values())
    status: Any = "conforms"
    if any(not each.is_left_to_protocol for each in findings):
        status = "violates"
    elif reason:
        status = "undetermined" if is_offered else "not offered"
    return ScenarioVerdict(scenario.name, scenario.title, status, trial.runs, trial.steps, findings, reason)


def _runs(trial: Trial, options: Options) -> Iterator[tuple[Played, int | None]]:
    """Every schedule up to the bound, then random ones with their seeds."""
    for played in trial.explore(options.preemptions):
        yield played, None
    for number in range(options.schedules):
        seed = options.seed + number
        threads = len(trial.scenario.threads)
        yield trial.play(RandomPriorities(seed, threads, trial.steps, CHANGES)), seed


def _finding(
    trial: Trial,
    played: Played,
    wrong: Unexplained,
    seed: int | None,
    trial_of: Callable[[AnyScenario], Trial],
) -> Finding:
    """The finding, shrunk: fewer preemptions, then fewer calls."""
    if seed is not None:
        played = fewer_preemptions(trial, played, wrong.clause)
    smaller = fewer_calls(trial.scenario, preemptions_of(played), wrong.clause, trial_of)
    if smaller is not None:
        trial, played = smaller
    played, is_followed = trial.follow(schedule_of(list(trial.scenario.threads), played.execution.steps))
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
    status: Any = "conforms"
    if any(not each.is_left_to_protocol for each in findings):
        status = "violates"
    elif reason:
        status = "undetermined"
    steps = len(played.execution.steps)
    return ScenarioVerdict(scenario.name, scenario.title, status, 1, steps, findings, reason)
