"""The suite: its stages on one component of a target, and their verdict."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from mmcache_ref.oracle.adapters.base import warm_up
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.component import NOT_EMPTY_CLAUSE, Component
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.deciding import deciding, is_stronger
from mmcache_ref.oracle.errors import BadRun, NotOffered
from mmcache_ref.oracle.exhaustive import Exhaustive, execute_graphs
from mmcache_ref.oracle.fuzz import Fuzzed, fuzz
from mmcache_ref.oracle.guard import TargetHung, hang_guard
from mmcache_ref.oracle.journal import Journal
from mmcache_ref.oracle.lockstep import BEST_LEVEL, Trial
from mmcache_ref.oracle.run import Profile, Run, without_explained
from mmcache_ref.oracle.shared_state import ALONE, shared_state
from mmcache_ref.oracle.shrink import shrink
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.oracle.tally import Tally
from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict, Coverage, Reached, clause_verdict
from mmcache_ref.oracle.walking import Walked, walk_graphs

Progress = Callable[[str, str, int], None]
"""Called with the component, the stage, and how many edges or operations are done."""


Stage = Literal["exhaustive", "walks", "fuzz"]
"""What a judgement consists of, in this order."""


class Options(msgspec.Struct, frozen=True):
    """What is asked of a judgement; `seconds` of fuzzing are shared by the components evenly.

    The walks are left out unless asked for: they take as long as the rest. With `examples`, each component is
    fuzzed with so many, and `seconds` is only a limit. `runs` are stored runs as JSON, performed before
    anything else; without `stages` they are all that is judged.
    """

    components: tuple[str, ...] = tuple(COMPONENTS)
    profile: Profile = "safe"
    level: int = BEST_LEVEL
    seconds: float = 20.0
    seed: int = 0
    stages: tuple[Stage, ...] = ("exhaustive", "fuzz")
    examples: int | None = None
    runs: tuple[str, ...] = ()


def judge(
    component: Component,
    namespace: Any,
    options: Options,
    *,
    seconds: float,
    progress: Progress = lambda component, stage, done: None,
    journal: Journal | None = None,
    tally: Tally | None = None,
) -> ComponentVerdict:
    """Repeat the stored runs, execute the tiny graph, then fuzz for `seconds`.

    Of a target whose caches share state nothing but that is told.
    A `tally` that is given shows what was compared so far, also when the judgement never ends.
    """
    started = time.monotonic()
    warm_up()
    try:
        with hang_guard() as guard, guard:
            component.adapter(namespace, component.executed_config)
    except NotOffered as error:
        return ComponentVerdict(component.name, "undetermined", reason=str(error))
    except (Exception, SystemExit, TargetHung) as error:
        reason = f"the target cannot be set up: {type(error).__name__}: {error}"
        return ComponentVerdict(component.name, "undetermined", reason=reason)
    tally = tally if tally is not None else Tally()
    with hang_guard() as guard:
        trial = Trial(component, namespace, options.profile, options.level, guard, journal, tally)
        if (shared_run := shared_state(trial)) is not None:
            found = Exhaustive(is_complete=False, runs={NOT_EMPTY_CLAUSE: shared_run})
            seconds = time.monotonic() - started
            verdict = _verdict(component, options, tally, found, Walked(), {}, Fuzzed(), tally.cut(), seconds)
            return msgspec.structs.replace(verdict, reason=ALONE)
        # What stored runs compare is no coverage of the stages.
        beside = dataclasses.replace(trial, tally=Tally()) if options.stages else trial
        shared = repeat_stored(
            beside, options.runs, progress=lambda done: progress(component.name, "stored runs", done)
        )
        executed = Exhaustive(is_complete=False)
        if "exhaustive" in options.stages:
            executed = execute_graphs(
                trial, progress=lambda done: progress(component.name, "exhaustive", done)
            )
        if any(run.mismatch and run.mismatch.aspect != "outcome" for run in executed.runs.values()):
            # What a wrong state leads to is hidden behind the mismatch. Of that, a hang matters.
            blind = dataclasses.replace(trial, level=0, tally=Tally())
            executed.runs |= execute_graphs(blind, only=component.hanging).runs
        executed.runs = without_explained(executed.runs)
        walked = Walked()
        if "walks" in options.stages:
            walked = walk_graphs(
                dataclasses.replace(trial, tally=Tally()),  # what they compare again is counted apart
                known=frozenset({*executed.runs, *shared}),
                progress=lambda done: progress(component.name, "walks", done),
            )
        in_graph = tally.cut()
        before = tally.operations
        fuzzed = fuzz(
            trial,
            seconds=seconds,
            seed=options.seed,
            max_examples=options.examples if "fuzz" in options.stages else 0,
            known=frozenset({*executed.runs, *shared, *walked.runs}),
            progress=lambda done: progress(component.name, "fuzz", done - before),
        )
    unexplained = without_explained({**fuzzed.runs, **walked.runs, **shared, **executed.runs})
    for stage in (executed, walked, fuzzed):
        stage.runs = {clause: run for clause, run in stage.runs.items() if clause in unexplained}
    shared = {clause: run for clause, run in shared.items() if clause in unexplained}
    if not any(hasattr(namespace, name) for name in component.protocol):
        # It was judged inside a protocol that is not its own, and is not praised for it.
        component = dataclasses.replace(component, protocol=frozenset())
    seconds = time.monotonic() - started
    return _verdict(component, options, tally, executed, walked, shared, fuzzed, in_graph, seconds)


def repeat_stored(
    trial: Trial, runs: Sequence[str], *, progress: Callable[[int], None] = lambda done: None
) -> dict[str, Run]:
    """The stored runs of the trial's component that its target still fails, the shortest for each clause.

    A text that is no run of this specification is left out.
    """
    found: dict[str, Run] = {}
    for done, text in enumerate(runs):
        progress(done)
        stored = _stored(trial, text)
        if stored is None:
            continue
        run = trial.run(stored.config, stored.operations)
        if run.mismatch is None:
            continue
        if len(run.steps) < len(stored.steps):
            run = shrink(trial, run)
        assert run.mismatch is not None
        identifier = run.mismatch.clause
        if identifier not in found or len(run.steps) < len(found[identifier].steps):
            found[identifier] = run
    return found


def _stored(trial: Trial, text: str) -> Run | None:
    """The run, if it is one of the trial's component that today's model can follow."""
    model = trial.component.model
    try:
        run = read_run(text)
        if run.component != trial.component.name:
            return None
        state = model.initial(run.config)
        for operation in run.operations:
            state, _ = model.step(run.config, state, operation)
    except (BadRun, LookupError, TypeError, ValueError, AssertionError):
        return None
    return run


def _verdict(
    component: Component,
    options: Options,
    tally: Tally,
    executed: Exhaustive,
    walked: Walked,
    shared: Mapping[str, Run],
    fuzzed: Fuzzed,
    in_graph: Tally,
    seconds: float,
) -> ComponentVerdict:
    judged = [
        identifier
        for identifier in sorted({*component.clauses, *executed.runs, *walked.runs, *shared, *fuzzed.runs})
        if options.profile == "safe" or not clause(identifier).is_stronger or identifier == component.hanging
    ]
    clauses = tuple(
        _clause(identifier, tally.clauses, executed, walked, shared, fuzzed) for identifier in judged
    )
    is_broken = any(each.is_violated for each in clauses)
    graph = graph_size(component.name, options.profile) if "exhaustive" in options.stages else (0, 0)
    possible = {
        case
        for case, rule in component.rules.items()
        if options.profile == "safe" or not any(clause(each).is_stronger for each in rule)
    }
    missed = sorted(f"{operation}: {kind}" for operation, kind in possible - tally.cases.keys())
    coverage = Coverage(
        states=executed.states,
        edges=executed.edges,
        graph_states=graph[0],
        graph_edges=graph[1],
        silent_edges=executed.silent_edges,
        is_exhaustive=executed.is_complete and (executed.states, executed.edges) == graph,
        fuzz_examples=fuzzed.examples,
        fuzz_operations=tally.operations - in_graph.operations,
        cases=len(possible) - len(missed),
        all_cases=len(possible),
        unreached_cases=tuple(missed),
        mismatching_edges=executed.mismatching_edges,
        exhaustive=_reached(in_graph),
        fuzz=_reached(tally.since(in_graph)),
        seen=tuple(name for name in component.model.ASPECTS if name in tally.aspects),
        walked_edges=walked.agreed,
        all_walked_edges=walked.edges,
        walk_steps=walked.steps,
        hidden=tuple(name for name in component.model.ASPECTS if name not in tally.aspects),
    )
    reason = ""
    status: Literal["conforms", "violates", "undetermined"] = "violates" if is_broken else "conforms"
    if not is_broken and tally.operations == 0:
        status, reason = "undetermined", "no operation was compared: give it more time"
    return ComponentVerdict(component.name, status, tally.level, clauses, coverage, round(seconds, 2), reason)


def _reached(tally: Tally) -> Reached:
    """What a stage has reached, by its own tally."""
    return Reached(
        operations=tally.operations,
        states=len(tally.states),
        transitions=len(tally.transitions),
        is_at_least=tally.is_full,
        cases=tuple(sorted(f"{operation}: {kind}" for operation, kind in tally.cases)),
        clauses=tuple(sorted(tally.clauses)),
    )


def _clause(
    identifier: str,
    comparisons: Counter[str],
    executed: Exhaustive,
    walked: Walked,
    shared: Mapping[str, Run],
    fuzzed: Fuzzed,
) -> ClauseVerdict:
    """The run of the exhaustive stage, which is a shortest one; else a stored one; else one of the walks, or
    the fuzz stage's."""
    count = comparisons[identifier]
    exhaustive, random = executed.runs.get(identifier), fuzzed.runs.get(identifier)
    if exhaustive is not None:
        return clause_verdict(identifier, count, exhaustive, "exhaustive", None)
    if identifier in shared:
        return clause_verdict(identifier, count, shared[identifier], "shared", None)
    if identifier in walked.runs:
        return clause_verdict(identifier, count, walked.runs[identifier], "walks", None)
    if random is not None:
        return clause_verdict(identifier, count, random, "fuzz", fuzzed.seeds[identifier])
    return clause_verdict(identifier, count, None, None, None)


@lru_cache(maxsize=32)
def graph_size(name: str, profile: Profile = "safe") -> tuple[int, int]:
    """States and edges of the graphs of a component that are executed, by the model alone.

    In profile `upstream` an edge that a stronger clause decides leads nowhere.
    """
    component = COMPONENTS[name]
    sizes = [_size_of_one(component.model, config, profile) for config in component.executed_configs]
    return sum(states for states, _ in sizes), sum(edges for _, edges in sizes)


def _size_of_one(model: Any, config: Any, profile: Profile) -> tuple[int, int]:
    """States and edges of one graph."""
    waiting = [model.initial(config)]
    seen = {model.view(waiting[0])}
    edges = 0
    for state in waiting:
        for operation in model.operations(config, state):
            edges += 1
            after, outcome = model.step(config, state, operation)
            if profile == "upstream" and is_stronger(deciding(model, operation, outcome)):
                continue
            if (there := model.view(after)) not in seen:
                seen.add(there)
                waiting.append(after)
    return len(seen), edges
