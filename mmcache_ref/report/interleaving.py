"""Interleavings: a row for each scenario; each run that breaks a clause in columns, one for each thread."""

from __future__ import annotations

import linecache
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.interleaving.findings import Finding, Lane
from mmcache_ref.oracle.interleaving.scenarios import SCENARIOS
from mmcache_ref.oracle.interleaving.verdicts import OUT_OF_TIME, Interleaved, Options, ScenarioVerdict
from mmcache_ref.oracle.wording import counted
from mmcache_ref.report.printed import json_text
from mmcache_ref.report.text import COLOURS

STYLES: Final = {**COLOURS, "not offered": "dim"}
FEW: Final = 3
"""Scenarios that are named one by one."""
WIDE: Final = 60
"""Characters in which a line with its file can be read."""
INDENT: Final = 12
"""Characters by which a thread stands to the right of the one before, where there are no such columns."""
CONTEXT: Final = 2
"""Lines shown on both sides of one where something happens."""


def interleaved_text(found: Interleaved) -> RenderableType:
    """The scenarios, and below what they showed; what is left to the protocol only of a single one."""
    table = Table(title=_title(found), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for name in ("scenario", "verdict", "clauses"):
        table.add_column(name, no_wrap=name != "clauses")
    for name in ("bound", "schedules", "seconds"):
        table.add_column(name, justify="right")
    for each in found.scenarios:
        table.add_row(
            each.name,
            Text(each.status, style=STYLES[each.status]),
            ", ".join(_clause(finding) for finding in each.findings),
            "–" if each.bound is None else str(each.bound),
            f"{each.schedules:,}",
            f"{each.seconds:.1f}",
        )
    parts: list[RenderableType] = [table, *_remarks(found)]
    shown: set[str] = set()
    for each in found.scenarios:
        for finding in each.findings:
            is_asked_for = len(found.scenarios) == 1 or not finding.is_left_to_protocol
            if finding.clause not in shown and is_asked_for:
                shown.add(finding.clause)
                parts += ["", finding_text(found.target, each, finding)]
    parts += ["", _last_line(found)]
    return Group(*parts)


def _clause(finding: Finding) -> str:
    return f"({finding.clause})" if finding.is_left_to_protocol else finding.clause


def _remarks(found: Interleaved) -> Iterator[Text]:
    """What brackets mean, how far it came in its time, and what else left a scenario without a verdict."""
    if any(finding.is_left_to_protocol for each in found.scenarios for finding in each.findings):
        yield Text("(in brackets: in this scenario it is left to the protocol)")
    reasons: dict[str, list[str]] = {}
    for each in found.scenarios:
        if each.reason and each.reason != OUT_OF_TIME:
            reasons.setdefault(each.reason, []).append(each.name)
    for reason, names in reasons.items():
        told = ", ".join(names) if len(names) <= FEW else f"{len(names)} scenarios"
        yield Text(f"{told}: {reason}", style="yellow")
    if found.options is not None and any(each.reason == OUT_OF_TIME for each in found.scenarios):
        yield Text(_out_of_time(found, found.options), style="yellow")


def _out_of_time(found: Interleaved, options: Options) -> str:
    """How many scenarios were run to which number of preemptions."""
    bounds = [-1 if each.bound is None else each.bound for each in found.scenarios]
    reached = [
        f"with {counted(number, 'preemption')} in {sum(bound >= number for bound in bounds)}"
        for number in range(options.preemptions + 1)
    ]
    return f"The time ran out: of {len(bounds)} scenarios every schedule was run {', '.join(reached)}."


def _title(found: Interleaved) -> str:
    options = found.options
    if options is None:
        return f"{found.target}: one schedule, repeated"
    random = f", {options.schedules:,} random ones from seed {options.seed}" if options.schedules else ""
    within = "bytecodes" if options.bytecodes else "lines"
    bound = counted(options.preemptions, "preemption")
    return f"{found.target}: every schedule of up to {bound}{random}, by {within}"


def _last_line(found: Interleaved) -> Text:
    broken = f": {', '.join(found.broken)}" if found.broken else ""
    schedules = sum(each.schedules for each in found.scenarios)
    return Text.assemble(
        f"{found.target} ",
        (found.status, f"bold {STYLES[found.status]}"),
        f"{broken} ({counted(schedules, 'schedule')})",
    )


def finding_text(target: str, verdict: ScenarioVerdict, finding: Finding) -> RenderableType:
    """A run that breaks a clause: the sentence, the clause, the lines in columns, and how to repeat it."""
    count = counted(finding.preemptions, "preemption")
    seed = "" if finding.seed is None else f", seed {finding.seed}"
    head = Text.assemble((finding.clause, "bold red"), f" {verdict.name} ({verdict.title}), {count}{seed}")
    parts: list[RenderableType] = [
        head,
        Text(f"  {finding.says}"),
        Text(f"  “{finding.rule}”", "italic"),
        Lanes(finding),
        Text(f"repeat: {replay_command(target, finding)}", "dim", no_wrap=True, overflow="ignore"),
    ]
    return Group(*parts)


def replay_command(target: str, finding: Finding) -> str:
    """The command that repeats a run: its scenario, by name if it is one of those that are known, and the
    schedule."""
    scenario = finding.scenario
    known = SCENARIOS.get(scenario.name) == scenario
    told = {"scenario": scenario.name if known else scenario, "schedule": finding.schedule}
    return shlex.join(["mmcache-ref", "interleave", target, "--replay", msgspec.json.encode(told).decode()])


class Lanes:
    """The lines of a run, those of each thread in a column of its own; what does nothing to others is left
    out in the middle.

    `*` writes to the segment, `#` takes or releases the lock, `>` begins a call, `=` is what it gave. Where
    columns would be narrow each thread begins a little further to the right than the one before.
    """

    def __init__(self, finding: Finding) -> None:
        self._names = list(finding.scenario.threads)
        self._rows = list(_rows(finding.lanes))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width // len(self._names) >= WIDE:
            yield self._table()
        else:
            heads = [(name, name) for name in self._names]
            for name, text in (*heads, *self._rows):
                indented = " " * (2 + INDENT * self._names.index(name)) + text
                yield Text(indented, no_wrap=True, overflow="ellipsis")

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 2))
        for name in self._names:
            table.add_column(name)
        for thread, text in self._rows:
            here = Text(text, no_wrap=True, overflow="ellipsis")
            table.add_row(*[here if name == thread else "" for name in self._names])
        return table


def _rows(lanes: Sequence[Lane]) -> Iterator[tuple[str, str]]:
    """Thread and text of each row."""
    skipped = 0
    for number, lane in enumerate(lanes):
        if not _is_shown(lanes, number):
            skipped += 1
            continue
        if skipped:
            yield lanes[number - 1].thread, f"  … {counted(skipped, 'line')}"
            skipped = 0
        if lane.begins:
            yield lane.thread, f"> {lane.begins}"
        if not lane.begins:
            yield lane.thread, _line(lane)
        if lane.gives:
            yield lane.thread, f"= {lane.gives}"
        if lane.is_preempted:
            yield lane.thread, "  (preempted)"


def _is_shown(lanes: Sequence[Lane], number: int) -> bool:
    """Does something happen here, or near by in the same thread?"""
    return any(
        _is_special(lanes, each) and lanes[each].thread == lanes[number].thread
        for each in range(max(number - CONTEXT, 0), min(number + CONTEXT + 1, len(lanes)))
    )


def _is_special(lanes: Sequence[Lane], number: int) -> bool:
    lane = lanes[number]
    is_first = number == 0 or lanes[number - 1].thread != lane.thread
    return bool(is_first or lane.is_preempted or lane.writes or lane.locks or lane.begins or lane.gives)


def _line(lane: Lane) -> str:
    """File, line, and what stands there, as far as the file can be read now."""
    mark = "*" if lane.writes else "#" if lane.locks else " "
    text = linecache.getline(lane.path, lane.line).strip()
    return f"{mark} {Path(lane.path).name}:{lane.line} {text}".rstrip()


def interleaved_json(found: Interleaved) -> str:
    """The same as indented JSON, with the status."""
    told: dict[str, Any] = msgspec.to_builtins(found) | {"status": found.status, "broken": found.broken}
    return json_text(told)
