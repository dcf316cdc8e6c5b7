"""Every schedule of every scenario on a target, and the first that shows what is wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import warm_up
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.findings import told
from mmcache_ref.oracle.interleaving.inquiry import Inquiry, Observe
from mmcache_ref.oracle.interleaving.scenario import AnyScenario, ProtocolScenario, check_scenario
from mmcache_ref.oracle.interleaving.schedules import Schedule
from mmcache_ref.oracle.interleaving.subject import SetUpWrong
from mmcache_ref.oracle.interleaving.trial import RunFailed, Trial
from mmcache_ref.oracle.interleaving.verdicts import Interleaved, Options, ScenarioVerdict, status_of
from mmcache_ref.oracle.quiet import quiet_logs


def interleave(
    namespace: Any,
    target: str,
    scenarios: Sequence[AnyScenario],
    options: Options,
    observe: Observe = lambda name, runs: None,
) -> Interleaved:
    """Judge a target under these scenarios.

    What an earlier judgement that was killed left in shared memory is removed first. Where there is a bound
    on the time, all scenarios are run without a preemption, then all with one, and so on, so that each gets
    something; in a stage it may take an equal share of what is left. Else one is run after the other.
    """
    segments.sweep()
    if any(isinstance(each, ProtocolScenario) for each in scenarios):
        warm_up()
    with quiet_logs():
        if options.seconds is None:
            verdicts = [_whole(Inquiry(namespace, each, options, observe), options) for each in scenarios]
        else:
            end = time.monotonic() + options.seconds
            inquiries = [Inquiry(namespace, each, options, observe) for each in scenarios]
            for stage in _stages(options):
                _run_stage(inquiries, stage, end)
            verdicts = [each.verdict() for each in inquiries]
    return Interleaved(target, options, tuple(verdicts))


def _stages(options: Options) -> Iterator[int]:
    yield from range(options.preemptions + 1 + bool(options.schedules))


def _whole(inquiry: Inquiry, options: Options) -> ScenarioVerdict:
    """Run every stage of one."""
    for stage in _stages(options):
        inquiry.advance(stage, None)
    return inquiry.verdict()


def _run_stage(inquiries: Sequence[Inquiry], stage: int, end: float) -> None:
    """Run a stage of all, until the time is over; who leaves something of its share leaves it to others."""
    while inquiries and time.monotonic() < end:
        left = []
        for place, each in enumerate(inquiries):
            now = time.monotonic()
            if not each.advance(stage, now + (end - now) / (len(inquiries) - place)):
                left.append(each)
        inquiries = left


def judge(
    namespace: Any, scenario: AnyScenario, options: Options, observe: Observe = lambda name, runs: None
) -> ScenarioVerdict:
    """Run the schedules of a scenario; of each clause that is broken the first one that breaks it."""
    return interleave(namespace, "", [scenario], options, observe).scenarios[0]


def replay(namespace: Any, scenario: AnyScenario, schedule: Schedule) -> ScenarioVerdict:
    """Run one schedule of a scenario; `BadRun` if one of the two makes no sense."""
    check_scenario(scenario)
    trial = Trial(namespace, scenario)
    try:
        with quiet_logs():
            played, lost = trial.follow(schedule)
    except NotOffered as error:
        return ScenarioVerdict(scenario.name, scenario.title, "not offered", reason=str(error))
    except (RunFailed, SetUpWrong) as error:
        return ScenarioVerdict(scenario.name, scenario.title, "undetermined", 1, reason=str(error))
    wrong = trial.wrong(played)
    findings = (told(trial.scenario, played, wrong),) if wrong is not None else ()
    status = status_of(findings, lost)
    steps = len(played.execution.steps)
    return ScenarioVerdict(scenario.name, scenario.title, status, 1, steps, findings, lost)
