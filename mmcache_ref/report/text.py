"""Verdicts as tables and runs for a terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from functools import partial

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.sentence import INITIAL
from mmcache_ref.oracle.stored import encode_run
from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict, Report, TargetVerdict
from mmcache_ref.oracle.wording import (
    claimed_keys,
    counted,
    operation_in_words,
    outcome_in_words,
    ranges,
    results_in_words,
    state_in_words,
)
from mmcache_ref.report.clauses import origin
from mmcache_ref.report.coverage import coverage_text, covered_line, fuzz_line, gaps_table, unjudged

SHORT_RULE = 100
"""Characters of a rule in a table."""
COLOURS = {
    "conforms": "green",
    "violates": "red",
    "undetermined": "yellow",
    "kept": "green",
    "broken": "red",
    "not reached": "yellow",
}


def report_text(report: Report, *, whole: bool = False) -> RenderableType:
    """Both tables, then each violation, then what was not covered (with `whole`, also all that was), then the
    verdict of each target."""
    parts: list[RenderableType] = [components_table(report.targets)]
    if any(component.broken for target in report.targets for component in target.components):
        parts += ["", clauses_table(report.targets)]
    for target in report.targets:
        parts += violations(target)
    for target in report.targets:
        for reason, components in reasons(target).items():
            parts += ["", Text(f"{target.target}, {', '.join(components)}: {reason}", style="yellow")]
    if whole:
        parts += ["", coverage_text(report.targets)]
    elif (gaps := gaps_table(report.targets)) is not None:
        parts += ["", gaps]
    parts += ["", *(Text(line, style="dim") for line in unjudged(report.targets)), ""]
    for target in report.targets:
        parts.append(_closing(target))
        if target.status != "conforms" and target.command:
            parts.append(Text(f"repeat: {target.command}", "dim", no_wrap=True, overflow="ignore"))
    return Group(*parts)


def components_table(targets: Sequence[TargetVerdict]) -> Table:
    """A row for each component, a column for each target."""
    table = Table(title="Verdicts", title_justify="left", show_lines=True, title_style="bold")
    table.add_column("component", no_wrap=True)
    for target in targets:
        table.add_column(escape(target.target))
    for index, component in enumerate(targets[0].components):
        table.add_row(component.component, *(_cell(target.components[index]) for target in targets))
    return table


def _cell(verdict: ComponentVerdict) -> Text:
    text = Text(verdict.status, style=f"bold {COLOURS[verdict.status]}")
    if verdict.reason and not verdict.clauses:
        return text.append(f"\n{shortened(verdict.reason)}", style="not bold default")
    kept = [each.id for each in verdict.clauses if each.status == "kept"]
    text.append(f" at L{verdict.level}", style="not bold default")
    if any(each.is_violated for each in verdict.broken):
        names = ranges(each.id for each in verdict.broken if each.is_violated)
        text.append(f"\nbroken: {names}", style="not bold red")
    if not all(each.is_violated for each in verdict.broken):
        names = ranges(each.id for each in verdict.broken if not each.is_violated)
        text.append(f"\nrecommended, not kept: {names}", style="not bold yellow")
    unreached = [each.id for each in verdict.clauses if each.status == "not reached"]
    if unreached:
        text.append("\nnot reached: " + ranges(unreached), style="not bold yellow")
    text.append(f"\nkept ({len(kept)}): {ranges(kept) or 'none'}", style="not bold default")
    text.append(f"\n{covered_line(verdict.coverage)}", style="not bold dim")
    if line := fuzz_line(verdict.coverage):
        text.append(
            f"\n{line}", style="not bold dim" if verdict.coverage.fuzz_operations else "not bold yellow"
        )
    return text


def clauses_table(targets: Sequence[TargetVerdict]) -> Table:
    """The clauses that some target breaks, beside each other."""
    table = Table(title="Broken clauses", title_justify="left", show_lines=True, title_style="bold")
    table.add_column("clause", no_wrap=True)
    table.add_column("rule", ratio=1)
    for target in targets:
        table.add_column(escape(target.target), no_wrap=True)
    found = [each for target in targets for component in target.components for each in component.broken]
    for identifier in sorted({each.id for each in found}):
        table.add_row(
            f"{identifier}\n{origin(clause(identifier))}",
            escape(shortened(clause(identifier).rule)),
            *(_status(target, identifier) for target in targets),
        )
    return table


def shortened(rule: str) -> str:
    """The beginning of a rule; the run below the table quotes it whole."""
    return textwrap.shorten(rule, SHORT_RULE, placeholder=" …")


def _status(target: TargetVerdict, identifier: str) -> Text:
    """The worst that any component of the target says of a clause."""
    found = [each for component in target.components for each in component.clauses if each.id == identifier]
    for status in ("broken", "kept", "not reached"):
        for each in found:
            if each.status == status:
                text = Text(status, style=COLOURS[status])
                return text.append(f"\nin {_count(each.run)}") if each.run is not None else text
    return Text("not judged", style="dim")


def _count(run: Run) -> str:
    return counted(len(run.steps), "operation")


def violations(target: TargetVerdict) -> list[RenderableType]:
    """Every violation of a target: first those to begin with, then in short what may follow from them."""
    found = [(component, each) for component in target.components for each in component.broken]
    roots = [pair for pair in found if not pair[1].follows_from]
    parts: list[RenderableType] = []
    for component, each in roots:
        parts += ["", violation(target, component, each)]
    reasons: dict[tuple[str, ...], list[tuple[ComponentVerdict, ClauseVerdict]]] = {}
    for component, each in found:
        if each.follows_from:
            reasons.setdefault(each.follows_from, []).append((component, each))
    for reason, pairs in reasons.items():
        parts += ["", Text(f"Probably follows from {', '.join(reason)}:", style="bold yellow")]
        for component, each in pairs:
            parts.append(violation(target, component, each, is_short=True))
    return parts


FOUND_BY = {
    "exhaustive": "exhaustive",
    "shared": "a stored run",
    "walks": "walks",
}


def violation(
    target: TargetVerdict, component: ComponentVerdict, broken: ClauseVerdict, *, is_short: bool = False
) -> RenderableType:
    """The clause, the sentence that says what is wrong, the rule and the run; in short without these two."""
    run = broken.run
    assert run is not None
    found = f"fuzz seed {broken.seed}" if broken.seed is not None else FOUND_BY[broken.stage or "exhaustive"]
    how = "broken" if broken.is_violated else "is recommended, and not kept"
    head = Text.assemble(
        (broken.id, "bold red" if broken.is_violated else "bold yellow"),
        f" {how} by {target.target}, {component.component}, {_count(run)} ({found})",
    )
    indent = 2 if is_short else 0
    lines: list[RenderableType] = [Padding(head, (0, 0, 0, indent))]
    if broken.sentence:
        lines.append(Padding(Text(broken.sentence), (0, 0, 0, indent + 2)))
    if not is_short:
        lines.append(Padding(Text(f"“{broken.rule}”", style="italic"), (0, 0, 0, 2)))
        lines.append(Padding(run_table(run), (0, 0, 0, 2)))
    # One line, however long, so that it can be copied; a Padding would crop it.
    repeat = f"{' ' * indent}repeat: {replay_command(target.target, run)}"
    lines += [Text(repeat, "dim", no_wrap=True, overflow="ignore")]
    return Group(*lines)


def run_table(run: Run) -> RenderableType:
    """A run step by step, with the state that the model has after each, and the mismatch it ends with.

    Keys stand in eviction order, the least recent first; `3 B/7` is an item of 3 bytes, each of value 7.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("operation")
    table.add_column("result, by the clauses")
    table.add_column("state after")
    for number, step in enumerate(run.steps, 1):
        table.add_row(
            str(number),
            escape(operation_in_words(step.operation, claimed_keys(run.steps, number - 1))),
            escape(outcome_in_words(step.operation, step.expected)),
            escape(state_in_words(step.state)),
        )
    budget = getattr(run.config, "budget", None)
    parts: list[RenderableType] = [] if budget is None else [f"budget {budget} B"]
    parts.append(table)
    mismatch = run.mismatch
    if mismatch is not None:
        what, words = f"{mismatch.aspect} (L{mismatch.level})", results_in_words
        if mismatch.aspect == "outcome":
            what, words = "result", partial(outcome_in_words, run.steps[-1].operation)
        if mismatch.kind == INITIAL:
            what += " before the first operation"
        parts.append(Text(f"{what}, by the clauses: {words(mismatch.expected)}"))
        if not run.is_repeatable:
            parts.append(Text("The target did this once, and not when the run was repeated.", style="yellow"))
        parts.append(Text(f"{what}, of the target:  {words(mismatch.actual)}", style="bold red"))
    return Group(*parts)


def replay_command(target: str, run: Run) -> str:
    """The command that repeats a run on a target."""
    return shlex.join(["mmcache-ref", "replay", target, encode_run(run)])


def reasons(target: TargetVerdict) -> dict[str, list[str]]:
    """Each reason why nothing, or not all, could be determined, with the components it is given for."""
    found: dict[str, list[str]] = {}
    for component in target.components:
        if component.reason:
            found.setdefault(component.reason, []).append(component.component)
    return found


def _closing(target: TargetVerdict) -> Text:
    found = [each for component in target.components for each in component.broken]
    broken = {each.id for each in found if each.is_violated}
    left_out = {each.id for each in found} - broken
    what = f": {ranges(broken)}" if broken else ""
    what += f"; recommended, not kept: {ranges(left_out)}" if left_out else ""
    return Text.assemble(
        f"{target.target} ",
        (target.status, f"bold {COLOURS[target.status]}"),
        f"{what} (profile {target.profile}, seed {target.seed}, {target.seconds:.0f} s)",
    )
