"""A shorter way to the same violation: fewer preemptions, then fewer calls, then fewer changes of thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.findings import preemptions_of
from mmcache_ref.oracle.interleaving.scenario import AnyScenario, calls_of
from mmcache_ref.oracle.interleaving.schedules import Schedule, schedule_of
from mmcache_ref.oracle.interleaving.subject import Played, SetUpWrong
from mmcache_ref.oracle.interleaving.trial import RunFailed, Trial

MOST_RUNS: Final = 400
"""Schedules that are run to find out whether a call is needed."""


def fewer_preemptions(trial: Trial, played: Played, clause: str) -> Played:
    """A run that breaks the clause with as few preemptions as leaving some out comes to."""
    best, blocks = played, schedule_of(played.execution)
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for shorter in _without_one(blocks):
            tried, _ = trial.follow(shorter)
            found = trial.wrong(tried)
            if found and found.clause == clause and preemptions_of(tried) < preemptions_of(best):
                best, blocks = tried, schedule_of(tried.execution)
                is_shorter = True
                break
    return best


def _without_one(blocks: Schedule) -> Iterator[Schedule]:
    """The schedule without one of its preemptions: that thread runs as far as it can."""
    for place, block in enumerate(blocks):
        if block.until is not None:
            yield (*blocks[:place], msgspec.structs.replace(block, until=None, visit=1), *blocks[place + 1 :])


def fewer_calls(trial: Trial, played: Played, clause: str) -> tuple[Trial, Played]:
    """The smallest part of the scenario that breaks the clause with as many preemptions, and how it does."""
    preemptions = preemptions_of(played)
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for part in _parts(trial.scenario):
            smaller = trial.of(part)
            found = _first(smaller, preemptions, clause)
            if found is not None:
                trial, played, is_smaller = smaller, found, True
                break
    return trial, played


def _parts(scenario: AnyScenario) -> Iterator[AnyScenario]:
    """The scenario without one of its calls, as long as two threads are left that do something."""
    needed = {each for call in calls_of(scenario).values() for each in call.after}
    for thread, number in calls_of(scenario):
        has_later = any(each[0] == thread and each[1] >= number for each in needed)
        calls = scenario.threads[thread]
        left = dict(scenario.threads) | {thread: (*calls[:number], *calls[number + 1 :])}
        left = {name: each for name, each in left.items() if each}
        if not has_later and len(left) > 1:
            yield msgspec.structs.replace(scenario, threads=left)


def fewer_changes(trial: Trial, played: Played, clause: str) -> Played:
    """The run with the fewest blocks that breaks the clause with no more preemptions, among those that are
    tried."""
    preemptions = preemptions_of(played)
    best, fewest = played, len(trial.scenario.threads) + preemptions
    if _blocks(best) > fewest:
        for other in _that_break(trial.of(trial.scenario), preemptions, clause):
            best = min(best, other, key=_blocks)
            if _blocks(best) <= fewest:
                break
    return best


def _blocks(played: Played) -> int:
    return len(schedule_of(played.execution))


def _first(trial: Trial, preemptions: int, clause: str) -> Played | None:
    """The first run with so many preemptions that breaks the clause, among those that are tried."""
    return next(_that_break(trial, preemptions, clause), None)


def _that_break(trial: Trial, preemptions: int, clause: str) -> Iterator[Played]:
    """The runs with so many preemptions that break the clause, among those that are tried."""
    try:
        trial.divide()
        for played in trial.explore(preemptions):
            found = trial.wrong(played)
            if found is not None and found.clause == clause:
                yield played
            if trial.runs > MOST_RUNS:
                return
    except (NotOffered, SetUpWrong, RunFailed, Diverged):
        return
