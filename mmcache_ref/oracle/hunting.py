"""The tasks of a hunt: one technique on one seeded fault, for some seeds, in a worker process."""

from __future__ import annotations

import logging
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from typing import Any, Final, NamedTuple

from mmcache_ref.model.explore import explore
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graphs
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.hunt import Part, Sighting, Technique
from mmcache_ref.oracle.known_process import end_with_parent
from mmcache_ref.oracle.lockstep import BEST_LEVEL, Trial
from mmcache_ref.oracle.searches import search_for
from mmcache_ref.oracle.targets import resolve, seeded_faults
from mmcache_ref.protocol.processes.host import no_interrupt
from mmcache_ref.protocol.processes.serving import ignore_interrupt

SEEDS_IN_TASK: Final = 20
MOST_OPERATIONS: Final = 20_000
"""Of one seed."""
HOPELESS: Final = 2
"""A task that has found nothing from so many seeds does not try the others."""
HANG_SECONDS: Final = 0.5
"""CPU time that one operation may take here. Seeded faults are pure Python on a few bytes: what costs time is
the garbage collector, and a fault that spins is judged many times while its run is shrunk."""
STATES: Final = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18)
"""Sizes of the searches of the model, each tried when the one before found nothing."""


class Task(NamedTuple):
    """A technique on a fault; `seeds` are those of fuzzing."""

    fault: str
    technique: Technique
    seeds: range = range(1)


def tasks(names: Sequence[str], seeds: int) -> list[Task]:
    """All that a hunt has to do, the long tasks first."""
    found = [Task(name, technique) for technique in ("exhaustive", "explore") for name in names]
    for first in range(0, seeds, SEEDS_IN_TASK):
        some = range(first, min(first + SEEDS_IN_TASK, seeds))
        found += [Task(name, technique, some) for name in names for technique in ("fuzz-L0", "fuzz-best")]
    return found


class WorkerLost(Exception):  # noqa: N818 - reads as what it is
    """A worker process ended before its tasks were done: killed, or out of memory."""


def perform_all(
    planned: Sequence[Task], jobs: int, progress: Callable[[Part], None] = lambda part: None
) -> list[Part]:
    """Perform the tasks in `jobs` processes. None of these is left behind, whatever happens.

    Raises `WorkerLost` when one of them ends by itself.
    """
    segments.sweep()
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=spawn, initializer=_prepare_process)
    waiting = list(planned)
    workers = set[int]()
    try:
        parts = []
        with no_interrupt():
            running = {pool.submit(perform, task): task for task in planned}
        workers |= {process.pid for process in multiprocessing.active_children() if process.pid}
        for done in as_completed(running):
            parts.append(done.result())
            waiting.remove(running[done])
            progress(parts[-1])
    except BrokenProcessPool as error:
        near = ", ".join(f"{task.fault} {task.technique}" for task in waiting[: 2 * jobs])
        raise WorkerLost(f"a worker process of the hunt ended by itself; it had one of: {near}") from error
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for worker in workers:
            segments.remove_all_of(worker)
    return parts


def _prepare_process() -> None:
    """The parent alone answers Ctrl-C, and does not leave this process behind when it is killed; what the
    caches log is of no interest, nor is a guard's exception that Python dropped: the guard tries again."""
    end_with_parent()
    ignore_interrupt()
    logging.disable(logging.CRITICAL)
    sys.unraisablehook = lambda dropped: None


def perform(task: Task) -> Part:
    """Do one task, in the main thread of this process."""
    fault = seeded_faults().FAULTS[task.fault]
    if task.technique == "explore":
        return _explore(fault)
    with hang_guard(HANG_SECONDS) as guard:
        level = 0 if task.technique == "fuzz-L0" else BEST_LEVEL
        component = COMPONENTS[fault.component]
        trial = Trial(component, _loaded(fault.name), "safe", level, guard)
        if task.technique == "exhaustive":
            return _exhaustive(trial, fault)
        return _fuzz(trial, fault, task)


@cache
def _loaded(name: str) -> Any:
    """The fault's namespace, used once: what it imports on first use would count as its own time."""
    component = COMPONENTS[seeded_faults().FAULTS[name].component]
    namespace = resolve(f"fault:{name}")
    component.adapter(namespace, component.executed_config)
    return namespace


def _exhaustive(trial: Trial, fault: Any) -> Part:
    """Execute the tiny graph until the fault's first clause is broken; then all of it, for the shortest run
    that breaks each clause."""
    clause = fault.clauses[0]
    started = time.perf_counter()
    first = execute_graphs(trial, only=clause)
    seconds = time.perf_counter() - started
    runs = execute_graphs(trial).runs
    if clause not in first.runs:
        if not runs:
            return Part(fault.name, "exhaustive", 1, reason="the tiny graph holds no run that shows it")
        clause = min(runs, key=lambda each: len(runs[each].steps))
    sighting = Sighting(clause, first.edges, seconds, len({**runs, **first.runs}[clause].steps))
    return Part(fault.name, "exhaustive", 1, (sighting,), {**runs, **first.runs})


def _fuzz(trial: Trial, fault: Any, task: Task) -> Part:
    """Fuzz from each seed until the first violation, and shrink its run."""
    sightings: list[Sighting] = []
    runs: dict[str, Any] = {}
    tried = 0
    for seed in task.seeds:
        found = fuzz(trial, seconds=math.inf, seed=seed, max_operations=MOST_OPERATIONS, only_first=True)
        tried += 1
        for clause, run in found.runs.items():
            length = len(run.steps)
            sightings.append(Sighting(clause, found.first_operations, found.first_seconds, length, seed))
            if clause not in runs or length < len(runs[clause].steps):
                runs[clause] = run
        if tried == HOPELESS and not sightings:
            break
    reason = "" if sightings else f"nothing within {MOST_OPERATIONS:,} operations"
    return Part(fault.name, task.technique, tried, tuple(sightings), runs, reason)


def _explore(fault: Any) -> Part:
    """Search the fault's model, with the fault's accidents and without the protection that it lacks."""
    if not fault.is_in_model:
        return Part(fault.name, "explore", 0, reason="the model has no such rule to switch off")
    search = search_for(fault)
    config = search.model.configure(
        "tiny", accidents=fault.accidents, protections=search.protections - set(fault.without)
    )
    judged = {name: each for name, each in search.properties.items() if each.clause in fault.clauses}
    started = time.perf_counter()
    for limit in STATES:
        found = explore(search.model, config, properties=judged, max_states=limit)
        seen = [verdict for verdict in found.verdicts.values() if verdict.run is not None]
        if seen:
            first = min(seen, key=lambda verdict: verdict.found_after or 0)
            seconds = time.perf_counter() - started
            length = len(first.run or ()) - 1
            sighting = Sighting(first.property.clause, first.found_after or 0, seconds, length)
            return Part(fault.name, "explore", 1, (sighting,))
        if found.complete:
            break
    return Part(fault.name, "explore", 1, reason="no property of these clauses is violated in the tiny model")
