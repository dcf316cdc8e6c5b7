"""Checks a model and says where it differs from what the manifest records."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from mmcache_ref.model.explore import Exploration
from mmcache_ref.oracle.wording import counted
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.distributed import LOOPBACK, run_distributed
from mmcache_ref.tlc.executing import Executed, execute
from mmcache_ref.tlc.graph import Difference, EdgeReader, Graph, difference
from mmcache_ref.tlc.manifest import Bound, Entry, Module, Tier, in_models
from mmcache_ref.tlc.output import INITIAL, Checked
from mmcache_ref.tlc.parting import Parting, parting
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.sources import checked_properties, config_sections

SECONDS = {"pr": 600.0, "nightly": 12 * 3600.0}
"""How long one model may take."""
FEW_STATES = 100_000
"""Up to so many states generated it does not pay that Java compiles TLC thoroughly."""
FEW_EDGES = 100_000
"""Up to so many are compared where the numbers differ."""
EXACT_VIEW = "exactView"
"""The view of a module that tells states apart by what can be done in them."""
EXACT_STATES = 20_000
EXACT_SECONDS = 120.0
"""Up to so many and so long, where it is another than the model's own."""
WRITE_EDGES = "ACTION_CONSTRAINT Edge"
_one_target = threading.Lock()
"""Models are checked at once, targets asked one after the other: the name of a segment, and whether anybody
logs, are the whole process's."""


@dataclass
class Judged:
    """A model, what TLC found, and every way in which that is not what the manifest says.

    `python` is the search that it is bound to, where there is one; `edges` how many were compared,
    `difference` where they differ first, `parting` the same in words, and `executed` what came of executing
    them on a target.
    """

    module: Module
    entry: Entry
    found: Checked
    wrong: list[str] = field(default_factory=list)
    python: Exploration | None = None
    edges: int | None = None
    difference: Difference | None = None
    parting: Parting | None = None
    executed: Executed | None = None

    @property
    def is_right(self) -> bool:
        """Whether everything is as recorded."""
        return not self.wrong


def judge(
    module: Module,
    entry: Entry,
    *,
    target: Any = None,
    tier: Tier = "nightly",
    is_recording: bool = False,
    counts_actions: bool = False,
    progress: Callable[[str], None] = lambda what: None,
) -> Judged:
    """Check one model with TLC, and the search in Python that has to find the same, if that is of the tier;
    where edges are compared, execute each on the target, if one is given. `counts_actions`: where the
    manifest asks for it."""
    bound = entry.bound if entry.bound is not None and entry.bound.tier in ("pr", tier) else None
    compares_edges = bound is not None and bound.edges
    reader = EdgeReader()
    job = Job(
        in_models(module.path),
        in_models(entry.path),
        more=(WRITE_EDGES,) if compares_edges else (),
        ends_early=entry.ends_early,
        coverage=entry.coverage and counts_actions,
        is_short=not entry.must_hold or (entry.total_states or FEW_STATES) <= FEW_STATES,
        seconds=SECONDS[entry.tier],
    )
    found = run(job, printed=reader.line, progress=_in_words(progress))
    name_property(found, entry)
    judged = Judged(module, entry, found, against_manifest(entry, found, counts=not is_recording))
    if bound is not None and found.result == "success":
        progress("searching in Python")
        _bind(judged, bound, job, reader, target, progress)
    return judged


def name_property(found: Checked, entry: Entry) -> None:
    """TLC does not say which liveness property or refinement fails: it is the one that the model checks."""
    if found.result in ("liveness failure", "safety failure") and found.property is None:
        checked = checked_properties(in_models(entry.path))
        found.property = checked[0] if len(checked) == 1 else None


def judge_distributed(
    module: Module,
    entry: Entry,
    *,
    workers: int,
    host: str = LOOPBACK,
    progress: Callable[[str], None] = lambda what: None,
    ready: Callable[[str], None] = lambda command: None,
) -> Judged:
    """Check one model with a server and worker processes; it comes to the same result, and where it holds to
    the same number of distinct states.

    This mode does not name the property that fails, so a twin is never as recorded.
    """
    job = Job(
        in_models(module.path),
        in_models(entry.path),
        ends_early=entry.ends_early,
        seconds=SECONDS[entry.tier],
    )
    found = run_distributed(job, workers=workers, host=host, progress=_in_words(progress), ready=ready)
    wrong = wrong_result(entry, found)
    if not wrong and found.property != entry.violated:
        wrong.append(f"names {found.property or 'nothing'}, must name {entry.violated or 'nothing'}")
    if not wrong and entry.must_hold and found.distinct != entry.distinct_states:
        wrong.append(f"distinct states: {found.distinct:,}, must be {entry.distinct_states or 0:,}")
    return Judged(module, entry, found, wrong)


def _in_words(progress: Callable[[str], None]) -> Callable[[Checked], None]:
    """How far TLC has come, told in words."""
    return lambda so_far: progress(f"{so_far.distinct:,} states, depth {so_far.depth}")


def against_manifest(entry: Entry, found: Checked, *, counts: bool = True) -> list[str]:
    """Each thing that TLC found and that the manifest says otherwise."""
    wrong = wrong_result(entry, found)
    if found.result == "success" and entry.must_hold and found.queued:
        wrong.append(f"{found.queued:,} states were not looked at")
    if found.property != entry.violated:
        must = "which must hold" if entry.violated is None else f"must name {entry.violated}"
        wrong.append(f"names {found.property or 'nothing'}, {must}")
    expected = {
        "distinct states": (found.distinct, entry.distinct_states),
        "states generated": (found.generated, entry.total_states),
        "depth": (found.depth, entry.state_depth),
    }
    if counts and found.result == entry.result:
        for what, (actual, recorded) in expected.items():
            if recorded is None:
                wrong.append(f"{what}: {actual:,}, nothing is recorded")
            elif actual != recorded:
                wrong.append(f"{what}: {actual:,}, must be {recorded:,}")
    return wrong


def wrong_result(entry: Entry, found: Checked) -> list[str]:
    """Another result than the manifest's, with what TLC said of it; nothing where it is the same."""
    if found.result == entry.result:
        return []
    return [f"{found.result}, must be {entry.result}" + "".join(f": {each}" for each in found.errors)]


def _bind(
    judged: Judged,
    bound: Bound,
    job: Job,
    reader: EdgeReader,
    target: Any,
    progress: Callable[[str], None],
) -> None:
    """Compare with the search in Python: the numbers, and on tiny presets the edges, which are executed."""
    binding = BINDINGS[bound.model]
    config = binding.config(bound.preset, **bound.options)
    is_exact = config_sections(job.config).get("view") == [EXACT_VIEW]
    python = binding.explore(config, exact=bound.edges or is_exact)
    judged.python = python
    found = judged.found
    other_numbers = [
        f"{what}: {theirs:,} with TLC, {ours:,} in Python"
        for what, ours, theirs in (
            ("distinct states", python.distinct, found.distinct),
            ("states generated", python.generated, found.generated),
            ("depth", python.depth, found.depth),
        )
        if ours != theirs
    ]
    judged.wrong += other_numbers
    if not bound.edges:
        if other_numbers and max(python.generated, found.generated) <= FEW_EDGES and _can_write_edges(job):
            _compare_edges_after_all(judged, binding, python, job, progress)
        return
    tlc = reader.graph()
    judged.edges = tlc.edges
    _compare(judged, binding, python, tlc)
    if judged.difference is None and target is not None and binding.is_executed:
        _execute(judged, binding, bound, config, tlc, target, progress)


def _compare(judged: Judged, binding: Binding, python: Exploration, tlc: Graph) -> None:
    """Where the two graphs part."""
    judged.difference = difference(binding.graph(python), tlc)
    if judged.difference is not None:
        judged.parting = parting(binding, python.config, judged.difference)
        judged.wrong.append(judged.parting.what)


def _can_write_edges(job: Job) -> bool:
    return "Edge ==" in job.module.read_text(encoding="utf-8")


def _compare_edges_after_all(
    judged: Judged, binding: Binding, python: Exploration, job: Job, progress: Callable[[str], None]
) -> None:
    """Numbers say that two graphs differ and not where: have this one written out, too.

    Where the view takes several states for one, TLC writes whichever it met first, which may be another than
    Python's: then both are searched once more, with the states told apart.
    """
    job = replace(job, more=(WRITE_EDGES,), coverage=False)
    if binding.told_apart is not None:
        job = replace(job, view=EXACT_VIEW, seconds=min(job.seconds, EXACT_SECONDS))
        python = binding.explore(python.config, exact=True, max_states=EXACT_STATES)
        if not python.complete:
            judged.wrong.append(
                f"where they differ is not known: {EXACT_VIEW} has too many states to compare"
            )
            return
    reader = EdgeReader()
    written = run(job, printed=reader.line, progress=_in_words(progress))
    if written.result != "success":
        judged.wrong.append(f"where they differ is not known: {written.result} while steps were written")
        return
    _compare(judged, binding, python, reader.graph())
    if judged.difference is None:
        judged.wrong.append("every step is the same: the two take other states for one")


def _execute(
    judged: Judged,
    binding: Binding,
    bound: Bound,
    config: Any,
    graph: Graph,
    target: Any,
    progress: Callable[[str], None],
) -> None:
    """Execute every edge on the target."""
    with _one_target:
        executed = execute(
            binding,
            config,
            graph,
            target,
            component=bound.component,
            progress=lambda done: progress(f"{done:,} edges executed"),
        )
    judged.executed = executed
    if not executed.is_complete:
        judged.wrong.append(f"{executed.executed:,} of {executed.edges:,} edges executed and alike")
    judged.wrong += [f"no step of the Python model: {each}" for each in executed.unknown[:1]]
    judged.wrong += [
        f"{clause} broken after {counted(len(run.steps), 'operation')}"
        for clause, run in executed.runs.items()
    ]


def never_taken(judged: list[Judged]) -> dict[str, list[str]]:
    """For each module the actions that none of its models that hold takes.

    Where TLC was not asked which it took, they are the operations of the search that finds the same.
    """
    taken: dict[str, Counter[str]] = {}
    made: dict[str, Counter[str]] = {}
    for each in judged:
        if each.entry.must_hold and each.found.actions:
            actions = taken.setdefault(each.module.name, Counter())
            actions.update({action: steps for action, (_, steps) in each.found.actions.items()})
        elif each.python is not None and each.entry.bound is not None:
            operations = made.setdefault(each.module.name, Counter())
            kinds = get_args(BINDINGS[each.entry.bound.model].model.Operation)
            operations.update({str(kind.__struct_config__.tag): 0 for kind in kinds})
            operations.update({name: times for (name, _), times in each.python.taken.items()})
    return {
        module: missing
        for module, actions in (made | taken).items()
        if (missing := [action for action, steps in actions.items() if not steps and action != INITIAL])
    }


def checks_liveness(module: Module, entry: Entry) -> bool:
    """Whether a model checks a property that a twin of its module violates by what never happens."""
    in_the_end = {each.violated for each in module.models if each.result == "liveness failure"}
    return not in_the_end.isdisjoint(checked_properties(in_models(entry.path)))


def never_violated(module: Module) -> list[str]:
    """The properties that models of a module check and that no twin violates."""
    checked = {
        name: None
        for entry in module.models
        if entry.must_hold
        for name in checked_properties(in_models(entry.path))
    }
    violated = {entry.violated for entry in module.models}
    return [name for name in checked if name not in violated]
