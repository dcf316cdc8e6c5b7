"""Verdicts as Markdown: for the summary of a CI run."""

from __future__ import annotations

from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict, Report, TargetVerdict
from mmcache_ref.oracle.wording import (
    claimed_keys,
    operation_in_words,
    outcome_in_words,
    ranges,
    state_in_words,
)
from mmcache_ref.report.coverage import covered_line, fuzz_line, not_covered, unjudged
from mmcache_ref.report.text import replay_command

MARKS = {"conforms": "✅", "violates": "❌", "undetermined": "⚠️"}


def markdown(report: Report) -> str:
    """A table of the components, each violation with its run folded away, and what was not covered."""
    lines = [f"# {MARKS[report.status]} {report.status}", ""]
    for target in report.targets:
        lines += _target(target)
    lines += [f"- {each}" for each in map(_plain, unjudged(report.targets))]
    return "\n".join(lines).rstrip() + "\n"


def _target(target: TargetVerdict) -> list[str]:
    lines = [f"## `{target.target}`: {target.status}", ""]
    lines += ["| component | verdict | broken | kept | covered |", "|---|---|---|---|---|"]
    for component in target.components:
        lines.append(_row(component))
    lines.append("")
    found = [(component, each) for component in target.components for each in component.broken]
    for component, each in sorted(found, key=lambda pair: bool(pair[1].follows_from)):
        lines += _violation(target, component, each)
    for component in target.components:
        if component.reason:
            lines += [f"**{component.component}**: {_plain(component.reason)}", ""]
    gaps = [
        f"- {component.component}: {_plain(gap)}"
        for component in target.components
        for gap in not_covered(component)
    ]
    if gaps:
        lines += ["### Not covered", "", *gaps, ""]
    if target.command:
        lines += ["Repeat:", "", *_fenced([target.command]), ""]
    return lines


def _row(component: ComponentVerdict) -> str:
    kept = [each.id for each in component.clauses if each.status == "kept"]
    level = f" at L{component.level}" if component.clauses else ""
    done = component.coverage
    covered = "; ".join(filter(None, (covered_line(done), fuzz_line(done)))) if component.clauses else "–"
    cells = [
        component.component,
        f"{MARKS[component.status]} {component.status}{level}",
        ranges(each.id for each in component.broken) or "–",
        f"{len(kept)}" if component.clauses else "–",
        covered,
    ]
    return f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _violation(target: TargetVerdict, component: ComponentVerdict, broken: ClauseVerdict) -> list[str]:
    run = broken.run
    assert run is not None
    mark = "" if broken.is_violated else " (recommended, not kept)"
    lines = [
        f"### {broken.id} in {component.component}{mark}",
        "",
        _plain(broken.sentence or broken.rule),
        "",
    ]
    if broken.follows_from:
        lines += [f"Probably follows from {', '.join(broken.follows_from)}.", ""]
    steps = []
    for place, step in enumerate(run.steps):
        operation = operation_in_words(step.operation, claimed_keys(run.steps, place))
        state = state_in_words(step.state)
        result = outcome_in_words(step.operation, step.expected)
        steps.append(f"{place + 1}. {operation}  ->  {result}" + (f"   [{state}]" if state else ""))
    lines += ["<details><summary>run</summary>", "", *_fenced(steps), ""]
    lines += [
        f"> {_plain(broken.rule)}",
        "",
        *_fenced([replay_command(target.target, run)]),
        "",
        "</details>",
        "",
    ]
    return lines


def _fenced(lines: list[str]) -> list[str]:
    """A block of code; its fence is longer than any in the text, and no line breaks out of it."""
    text = "\n".join(lines)
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}text", text, fence]


def _plain(text: str) -> str:
    """The text on one line, with nothing in it that Markdown or HTML would take for a mark."""
    flat = " ".join(text.split())
    for mark in "\\`*_[]<>#":
        flat = flat.replace(mark, f"\\{mark}")
    return flat
