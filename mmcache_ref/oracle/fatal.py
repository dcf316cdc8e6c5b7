"""Runs whose last operation ended the target's process or never came back, and how to shorten them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.run import Mismatch, Profile, Run, Step, plain
from mmcache_ref.oracle.suite import graph_size
from mmcache_ref.oracle.verdict import ComponentVerdict, Coverage, clause_verdict
from mmcache_ref.oracle.worker import Progressed

MOST_TRIES: Final = 20
"""Each costs a process of its own."""
MOST_SECONDS: Final = 60.0
"""No further try begins then."""


def fatal_run(
    component: str, profile: Profile, config: Any, operations: Sequence[Op], *, is_blocked: bool, detail: str
) -> Run:
    """The run of a journal, up to the operation that did not end; `detail` tells how."""
    judged = COMPONENTS[component]
    model = judged.model
    state = model.initial(config)
    steps = []
    for operation in operations:
        state, outcome = model.step(config, state, operation)
        steps.append(Step(operation, plain(outcome.result), None, plain(model.observe(config, state))))
    case = model.RULES[tag(operations[-1]), outcome.kind]
    identifier = judged.hanging if is_blocked else case.outcome
    mismatch = Mismatch(identifier, "outcome", outcome.kind, 0, plain(outcome.result), detail)
    return Run(component, model.bare(config), profile, tuple(steps), mismatch)


def shrunk(run: Run, repeat: Callable[[Run], Run | None]) -> Run:
    """A shorter run that ends the process the same way, after at most `MOST_TRIES` repetitions.

    `repeat` performs a run in a fresh process; it returns the run up to its fatal operation, or None when it
    does not end that way.
    """
    deadline = time.monotonic() + MOST_SECONDS
    tries, best = 0, run
    candidates = _candidates(best)
    while tries < MOST_TRIES and time.monotonic() < deadline:
        candidate = next(candidates, None)
        if candidate is None:
            break
        tries += 1
        shorter = repeat(candidate)
        if shorter is not None:
            best, candidates = shorter, _candidates(shorter)
    return best


def _candidates(run: Run) -> Iterator[Run]:
    """The run without chunks of its operations, the longest first, then without members of the last one's
    lists; the last operation stays."""
    *before, last = run.steps
    chunk = len(before)
    while chunk:
        for start in range(0, len(before), chunk):
            yield msgspec.structs.replace(run, steps=(*before[:start], *before[start + chunk :], last))
        chunk //= 2
    for name in last.operation.__struct_fields__:
        members = getattr(last.operation, name)
        if isinstance(members, tuple) and not hasattr(members, "_asdict"):
            for index in range(len(members)):
                fewer = msgspec.structs.replace(
                    last.operation, **{name: members[:index] + members[index + 1 :]}
                )
                yield msgspec.structs.replace(run, steps=(*before, Step(fewer)))


def fatal_verdict(run: Run, detail: str, done: Progressed | None) -> ComponentVerdict:
    """A violation that ended the judgement: its run, and of the other clauses what was compared before."""
    assert run.mismatch is not None
    fatal = run.mismatch.clause
    compared = dict(done.compared) if done is not None else {}
    mismatched = set(done.mismatched) - {fatal} if done is not None else set()
    others = [each for each in COMPONENTS[run.component].clauses if each not in {fatal, *mismatched}]
    clauses = [clause_verdict(fatal, compared.get(fatal, 0) + 1, run, "exhaustive", None)]
    clauses += [clause_verdict(each, compared.get(each, 0), None, None, None) for each in others]
    reason = f"{detail}; what is kept was compared before that"
    if mismatched:
        reason += (
            f", and {', '.join(sorted(mismatched))} was broken before that: judge again without this fault"
        )
    states, edges = graph_size(run.component, run.profile)
    executed = done.done if done is not None and done.stage == "exhaustive" else 0
    coverage = Coverage(edges=executed, graph_states=states, graph_edges=edges)
    ordered = tuple(sorted(clauses, key=lambda each: each.id))
    return ComponentVerdict(run.component, "violates", clauses=ordered, coverage=coverage, reason=reason)
