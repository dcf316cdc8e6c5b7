"""A simulation as a table with its verdict, and as JSON."""

from __future__ import annotations

import shlex

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.simulation import Plan, Simulated
from mmcache_ref.report.printed import json_text
from mmcache_ref.report.text import COLOURS, replay_command, run_table

MODELS = {"lru": "key-replicated", "shm": "shm-caches"}
"""What `explore` searches for each kind of cache."""


def simulation_text(found: Simulated) -> RenderableType:
    """What was asked for, counts, what went wrong, and the verdict."""
    plan = found.plan
    parts: list[RenderableType] = [
        Text(f"accidents: {_named(plan.accidents)}; protections: {_named(plan.protections)}", "dim")
    ]
    if found.operations:
        parts += [_counts(found), Text(_happened(found), "dim"), ""]
    if found.run is not None:
        parts += _departure(found)
    parts += _judged(found)
    for each in found.broken:
        where = each.operation if plan.in_processes else f"operation {each.step}, {each.operation}"
        parts.append(Text.assemble((each.clause, "bold red"), f" {where}"))
        parts.append(Padding(Text(f"“{each.rule}”", "italic"), (0, 0, 0, 2)))
    if found.broken and not plan.in_processes:
        parts += [Text("The target did what the model does: it is the protocol that allows this."), ""]
    if found.reason:
        parts += [Text(found.reason, "yellow"), ""]
    end = f"{found.target} {plan.cache} "
    parts.append(Text.assemble(end, (found.status, f"bold {COLOURS[found.status]}"), f" (seed {plan.seed})"))
    if found.status != "conforms":
        parts.append(Text(f"repeat: {command(found)}", "dim", no_wrap=True, overflow="ignore"))
    if found.broken and not plan.in_processes:
        shortest = f"shortest run: {search(plan)}"
        parts.append(Text(shortest, "dim", no_wrap=True, overflow="ignore"))
    return Group(*parts)


def simulation_json(found: Simulated) -> str:
    """All of it as indented JSON."""
    return json_text(found)


def command(found: Simulated) -> str:
    """The command that repeats a simulation."""
    plan = found.plan
    words = ["mmcache-ref", "simulate", found.target, "--cache", plan.cache]
    words += ["--workers", str(plan.workers)] if plan.cache == "shm" else []
    words += ["--requests", str(plan.requests), *_happening(plan)]
    words += ["--protect", ",".join(plan.protections) or "none", "--seed", str(plan.seed)]
    words += ["--processes"] if plan.in_processes else []
    return shlex.join(words)


def search(plan: Plan) -> str:
    """The command that searches the model for the shortest run with the same accidents and protections."""
    kept = [*plan.protections, *(["keep-touched"] if plan.cache == "lru" else [])]
    stopping = ["--protect", ",".join(kept)] if kept else []
    return shlex.join(["mmcache-ref", "explore", MODELS[plan.cache], *_happening(plan), *stopping])


def _happening(plan: Plan) -> list[str]:
    return ["--with", ",".join(plan.accidents)] if plan.accidents else []


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _counts(found: Simulated) -> Table:
    """A row for each count; of the protocol's own work, what it counts."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    work = found.work
    misses = found.lookups - found.hits
    rows: list[tuple[str, int | None, str]] = [
        ("requests", found.requests, f"{found.refused:,} of them refused"),
        ("hits", found.hits, f"of {found.lookups:,} lookups{_share(found.hits, found.lookups)}"),
        ("misses", misses, "lookups of what P0's cache did not have"),
        ("stale", work.get("misses"), "messages whose items had gone by the time they arrived"),
        ("retries", work.get("retries"), "requests that were sent again with all their data"),
        ("references", work.get("references"), f"handles sent{_releases(work)}"),
        ("acknowledgements", work.get("acknowledgements"), "handles read"),
        ("bytes moved", found.moved_bytes if work else None, _moved(work)),
        ("peak bytes", found.peak_bytes, "the most that was stored at once"),
        ("stranded bytes", found.stranded_bytes, _stranded(found)),
    ]
    for name, count, says in rows:
        if count is not None:
            table.add_row(name, f"{count:,}", says)
    return table


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


def _releases(work: dict[str, int]) -> str:
    return f"; {work['releases']:,} messages sent only to release them" if "releases" in work else ""


def _moved(work: dict[str, int]) -> str:
    """Which bytes went which way."""
    ways = {
        "payload_bytes": "in messages",
        "resent_bytes": "in messages sent again",
        "stored_bytes": "into the segment",
        "inline_bytes": "in messages",
        "copied_bytes": "out of the segment",
    }
    return ", ".join(f"{work[name]:,} {way}" for name, way in ways.items() if work.get(name))


def _stranded(found: Simulated) -> str:
    """What such bytes are, and how many acknowledgements never came."""
    if found.plan.cache == "lru":
        return "the most that P1 held and P0 did not know of, with nothing under way"
    lost = found.work.get("stranded", 0)
    return f"the most held by references that nobody will acknowledge; {lost:,} were lost on the way"


def _judged(found: Simulated) -> list[RenderableType]:
    """What the log of all processes comes to."""
    judged = found.judged
    if judged is None:
        return []
    count = f"log of {judged.events:,} events: {judged.explained:,} of them explained together"
    parts: list[RenderableType] = [Text(count, "dim")]
    if judged.unexplained is not None:
        line = f" line {judged.unexplained.line} of the log, {judged.unexplained.says}"
        parts.append(Text.assemble((judged.unexplained.clause, "bold red"), line))
    if judged.reason:
        parts.append(Text(judged.reason, "yellow"))
    return [*parts, ""]


def _happened(found: Simulated) -> str:
    """How often each operation was performed."""
    whole = sum(found.operations.values())
    counts = ", ".join(f"{name} {count:,}" for name, count in found.operations.items())
    return f"{whole:,} operations: {counts}"


def _departure(found: Simulated) -> list[RenderableType]:
    """Where the target left the model."""
    run = found.run
    assert run is not None
    assert run.mismatch is not None
    broken = clause(run.mismatch.clause)
    replay = f"repeat it: {replay_command(found.target, run)}"
    return [
        Text.assemble((broken.id, "bold red"), f" broken by {found.target}, {run.component}"),
        Padding(Text(found.said), (0, 0, 0, 2)),
        Padding(Text(f"“{broken.rule}”", "italic"), (0, 0, 0, 2)),
        Padding(run_table(run), (0, 0, 0, 2)),
        Text(replay, "dim", no_wrap=True, overflow="ignore"),
        "",
    ]
