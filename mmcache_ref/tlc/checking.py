"""Checks a model and says where it differs from what the manifest records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mmcache_ref.model.explore import Exploration
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.graph import Difference, EdgeReader, Graph, difference
from mmcache_ref.tlc.manifest import Bound, Entry, Module, in_models
from mmcache_ref.tlc.output import Checked
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.sources import checked_properties

SECONDS = {"pr": 600.0, "nightly": 12 * 3600.0}
"""How long one model may take."""
WRITE_EDGES = "ACTION_CONSTRAINT Edge"


@dataclass
class Judged:
    """A model, what TLC found, and every way in which that is not what the manifest says.

    `python` is the search that it is bound to, where there is one; `edges` how many were compared.
    """

    module: Module
    entry: Entry
    found: Checked
    wrong: list[str] = field(default_factory=list)
    python: Exploration | None = None
    edges: int | None = None
    difference: Difference | None = None

    @property
    def is_right(self) -> bool:
        """Whether everything is as recorded."""
        return not self.wrong


def judge(
    module: Module,
    entry: Entry,
    *,
    is_recording: bool = False,
    progress: Callable[[str], None] = lambda what: None,
) -> Judged:
    """Check one model with TLC, and the search in Python that has to find the same."""
    bound = entry.bound
    compares_edges = bound is not None and bound.edges
    reader = EdgeReader()
    job = Job(
        in_models(module.path),
        in_models(entry.path),
        more=(WRITE_EDGES,) if compares_edges else (),
        ends_early=entry.ends_early,
        coverage=entry.must_hold,
        is_short=not entry.must_hold or compares_edges,
        seconds=SECONDS[entry.tier],
    )
    found = run(
        job,
        printed=reader.line,
        progress=lambda so_far: progress(f"{so_far.distinct:,} states, depth {so_far.depth}"),
    )
    name_liveness_property(found, entry)
    judged = Judged(module, entry, found, against_manifest(entry, found, counts=not is_recording))
    if bound is not None and found.result == "success":
        progress("searching in Python")
        _bind(judged, bound, reader)
    return judged


def name_liveness_property(found: Checked, entry: Entry) -> None:
    """TLC does not say which liveness property fails: it is the one that the model checks."""
    if found.result == "liveness failure" and found.property is None:
        checked = checked_properties(in_models(entry.path))
        found.property = checked[0] if len(checked) == 1 else None


def against_manifest(entry: Entry, found: Checked, *, counts: bool = True) -> list[str]:
    """Each thing that TLC found and that the manifest says otherwise."""
    wrong = []
    if found.result != entry.result:
        wrong.append(
            f"{found.result}, must be {entry.result}" + "".join(f": {each}" for each in found.errors)
        )
    if found.result == "success" and entry.must_hold and found.queued:
        wrong.append(f"{found.queued:,} states were not looked at")
    if found.property != entry.violated:
        wrong.append(f"names {found.property}, must name {entry.violated}")
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


def _bind(judged: Judged, bound: Bound, reader: EdgeReader) -> None:
    """Compare with the search in Python: the numbers, and on tiny presets the edges."""
    binding = BINDINGS[bound.model]
    options = {
        "accidents": list(bound.accidents),
        "protections": list(bound.protections),
        "depth": bound.depth,
        "clears": bound.clears,
    }
    python = binding.explore(binding.config(bound.preset, **options))
    judged.python = python
    found = judged.found
    for what, ours, theirs in (
        ("distinct states", python.distinct, found.distinct),
        ("states generated", python.generated, found.generated),
        ("depth", python.depth, found.depth),
    ):
        if ours != theirs:
            judged.wrong.append(f"{what}: {theirs:,} with TLC, {ours:,} in Python")
    if bound.edges:
        tlc = Graph.of(reader.edges[0].before, reader.edges) if reader.edges else Graph()
        judged.edges = tlc.edges
        judged.difference = difference(binding.graph(python), tlc)
        if judged.difference is not None:
            where = judged.difference
            judged.wrong.append(f"{where.side} alone has a {where.what} after {len(where.run)} steps")


def never_taken(judged: list[Judged]) -> dict[str, list[str]]:
    """For each module the actions that none of its models that hold takes."""
    taken: dict[str, dict[str, int]] = {}
    for each in judged:
        if each.entry.must_hold:
            actions = taken.setdefault(each.module.name, {})
            for action, (_, steps) in each.found.actions.items():
                actions[action] = actions.get(action, 0) + steps
    return {
        module: missing
        for module, actions in taken.items()
        if (missing := [action for action, steps in actions.items() if not steps])
    }


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
