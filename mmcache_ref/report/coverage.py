"""What a judgement covered and what it did not, in short and in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.advice import all_advice
from mmcache_ref.oracle.clauses import all_clauses
from mmcache_ref.oracle.component import is_of_protocol
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.verdict import ComponentVerdict, Coverage, Reached, TargetVerdict
from mmcache_ref.oracle.wording import counted, ranges

MOST_NAMED: Final = 6
"""Cases that the short form names; the long one names all."""


def covered_line(done: Coverage) -> str:
    """What was compared, in a line: all stages together."""
    graph = f"{_of(done.edges, done.graph_edges)} edges"
    if done.graph_states > 1:
        graph = f"{_of(done.states, done.graph_states)} states, {graph}"
    cases = f", {_of(done.cases, done.all_cases)} cases" if done.all_cases else ""
    if done.walk_steps:
        graph += (
            f", {_of(done.walked_edges, done.all_walked_edges)} edges walked in {done.walk_steps:,} steps"
        )
    return f"{graph}, {done.fuzz_operations:,} fuzz operations{cases}"


def fuzz_line(done: Coverage) -> str:
    """What fuzzing reached by itself; that it reached nothing is said aloud."""
    if not done.fuzz_operations:
        return "not fuzzed"
    return f"fuzzing reached {_reached(done.fuzz)}" if done.fuzz.operations else ""


def _reached(reached: Reached) -> str:
    least = "at least " if reached.is_at_least else ""
    return (
        f"{least}{counted(reached.states, 'state')}, {least}{counted(reached.transitions, 'transition')}, "
        f"{counted(len(reached.cases), 'case')}, {counted(len(reached.clauses), 'clause')}"
    )


def not_covered(verdict: ComponentVerdict, *, is_short: bool = True) -> list[str]:
    """What of a component was not compared, one line each; nothing for a component that was not judged."""
    done = verdict.coverage
    if not verdict.clauses:
        return []
    said = []
    if done.edges < done.graph_edges:
        left = done.graph_edges - done.edges
        said.append(f"{left:,} of {done.graph_edges:,} edges were not executed{_reason(done)}")
    if done.silent_edges:
        said.append(f"on {counted(done.silent_edges, 'edge')} the profile says nothing")
    if not done.fuzz_operations:
        said.append("nothing was fuzzed")
    if done.unreached_cases:
        shown = done.unreached_cases[: MOST_NAMED if is_short else None]
        more = len(done.unreached_cases) - len(shown)
        tail = f" and {more} more" if more else ""
        said.append(f"{_of_all(len(done.unreached_cases), done.all_cases, 'case')}: {'; '.join(shown)}{tail}")
    if unreached := [each.id for each in verdict.clauses if each.status == "not reached"]:
        said.append(f"nothing was compared for {ranges(unreached)}")
    if done.hidden:
        said.append(f"the target does not show, or the level leaves out: {', '.join(done.hidden)}")
    return said


def _reason(done: Coverage) -> str:
    """Why edges were left out, as far as the figures tell."""
    if done.mismatching_edges:
        return f": they lie behind {counted(done.mismatching_edges, 'edge')} that mismatched"
    return ""


def gaps_table(targets: Sequence[TargetVerdict]) -> RenderableType | None:
    """The short form for all targets; None where everything was covered."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, show_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for target in targets:
        for component in target.components:
            if said := not_covered(component):
                table.add_row(f"{target.target}, {component.component}", Text("\n".join(said)))
    if not table.rows:
        return None
    return Group(Text("Not covered", style="bold"), Padding(table, (0, 0, 0, 2)))


def unjudged(targets: Sequence[TargetVerdict]) -> list[str]:
    """The clauses that this judgement compared nothing for, and why: lines."""
    judged = {each.id for target in targets for component in target.components for each in component.clauses}
    asked = {component.component for target in targets for component in target.components}
    others = [component for name, component in COMPONENTS.items() if name not in asked]
    possible = {each for component in COMPONENTS.values() for each in component.clauses}
    elsewhere = {each for component in others for each in component.clauses} - judged
    nobody = all_clauses().keys() - judged - possible
    here = all_clauses().keys() - judged - nobody - elsewhere
    lines = []
    if elsewhere:
        names = ", ".join(component.name for component in others)
        lines.append(f"Not asked for: {ranges(elsewhere)} (components {names})")
    if any(target.profile == "upstream" for target in targets):
        stronger = {each for each in here if all_clauses()[each].is_stronger}
        here -= stronger
        lines += [f"Left out by profile upstream: {ranges(stronger)}"] if stronger else []
    inside = [each for target in targets for each in target.components if COMPONENTS[each.component].protocol]
    if any(each.clauses for each in inside) and (foreign := set(filter(is_of_protocol, here))):
        lines.append(
            f"Not a matter of these targets, which bring no protocol of their own: {ranges(foreign)}"
        )
        here -= foreign
    if here:
        lines.append(f"Not determined: {ranges(here)}")
    if nobody:
        lines.append(f"Judged by no component: {ranges(nobody)} (--coverage says why)")
    return lines


def coverage_text(targets: Sequence[TargetVerdict]) -> RenderableType:
    """The whole list: each component of each target, then the clauses that nobody judges, with reasons."""
    parts: list[RenderableType] = [Text("Coverage", style="bold")]
    for target in targets:
        for component in target.components:
            parts += ["", _component_table(target, component)]
    possible = {each for component in COMPONENTS.values() for each in component.clauses}
    nobody = sorted(all_clauses().keys() - possible)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, show_edge=False)
    for identifier in nobody:
        table.add_row(identifier, Text(why_unjudged(identifier)))
    if nobody:
        parts += ["", Text("Judged by no component", style="bold"), Padding(table, (0, 0, 0, 2))]
    return Group(*parts)


def why_unjudged(identifier: str) -> str:
    """Why no component judges a clause; without the marks of code."""
    stored = all_advice().get(identifier)
    return (stored.unjudged if stored else "").replace("`", "") or "no component judges it"


def _component_table(target: TargetVerdict, verdict: ComponentVerdict) -> RenderableType:
    done = verdict.coverage
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, show_edge=False)
    table.add_column(no_wrap=True, style="dim")
    table.add_column()
    head = Text.assemble((f"{target.target}, {verdict.component}", "bold"))
    if not verdict.clauses:
        return Group(head, Padding(Text(verdict.reason or "not judged", style="yellow"), (0, 0, 0, 2)))
    rows = [("level", f"L{verdict.level}" + (f": {', '.join(done.seen)}" if done.seen else ""))]
    rows.append(("together", covered_line(done)))
    for name, reached in (("graph", done.exhaustive), ("fuzz", done.fuzz)):
        if not reached.operations:
            nothing = (done.edges if name == "graph" else done.fuzz_operations) == 0
            rows += [(name, "nothing reached")] if nothing else []
            continue
        rows.append((name, f"{reached.operations:,} operations, {_reached(reached)}"))
        rows.append(("", f"cases: {'; '.join(reached.cases)}"))
        rows.append(("", f"clauses: {ranges(reached.clauses)}"))
    rows.append(("comparisons", _comparisons(verdict)))
    gaps = not_covered(verdict, is_short=False)
    rows += [("not covered" if place == 0 else "", gap) for place, gap in enumerate(gaps)]
    for name, words in rows:
        table.add_row(name, Text(words))
    return Group(head, Padding(table, (0, 0, 0, 2)))


def _comparisons(verdict: ComponentVerdict) -> str:
    return (
        ", ".join(f"{each.id} {each.comparisons:,}" for each in verdict.clauses if each.comparisons) or "none"
    )


def _of(part: int, whole: int) -> str:
    return f"all {whole:,}" if part == whole else f"{part:,} of {whole:,}"


def _of_all(part: int, whole: int, noun: str) -> str:
    return f"{part:,} of {counted(whole, noun)}"
