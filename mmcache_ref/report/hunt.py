"""A kill matrix as a table for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.hunt import Cell, Demand, Hunt, Row, Technique
from mmcache_ref.oracle.lockstep import BEST_LEVEL
from mmcache_ref.report.printed import json_text

HEADINGS: dict[Technique, str] = {
    "exhaustive": "exhaustive",
    "fuzz-L0": "fuzz at L0",
    "fuzz-best": f"fuzz at L{BEST_LEVEL}",
    "explore": "explore",
}
LEGEND = (
    "found / tried; median operations (exhaustive: edges, explore: states) and seconds to the first "
    "violation; median length of the run, which is shrunk where it was fuzzed, and the longest; if not all "
    "named a clause of the fault: how many did, and the clauses that others named."
)
MEDIAN_SECONDS = 1.0
"""What a median is held against, for information: a loaded machine is slower."""


def hunt_json(hunt: Hunt) -> str:
    """The matrix as indented JSON, with the run of each fault."""
    return json_text(hunt, order="deterministic")


def hunt_text(hunt: Hunt) -> RenderableType:
    """The matrix, then what is demanded of it."""
    table = Table(title=_title(hunt), title_justify="left", title_style="bold", show_lines=True)
    table.add_column("fault", max_width=24)
    for heading in HEADINGS.values():
        table.add_column(heading, min_width=len("exhaustive"))
    for row in hunt.rows:
        table.add_row(
            f"[bold]{row.fault}[/bold] {escape(row.component)}\n{', '.join(row.clauses)}\n{_shortest(row)}",
            *(_styled(row, row.cell(technique)) for technique in HEADINGS),
        )
    parts: list[RenderableType] = [table, Text(LEGEND, style="dim"), ""]
    for demand in hunt.demands:
        parts.append(Text(_demand(demand), style="red" if demand.failures else "green"))
    return Group(*parts, Text(_speed(hunt), style="dim"))


def hunt_markdown(hunt: Hunt) -> str:
    """The same, for a page or a summary of a CI."""
    lines = [f"**{_title(hunt)}**", "", "| fault | " + " | ".join(HEADINGS.values()) + " |"]
    lines.append("|---|" + "---|" * len(HEADINGS))
    for row in hunt.rows:
        head = f"**{row.fault}** {row.title}<br>{row.component}: {', '.join(row.clauses)}<br>{_shortest(row)}"
        cells = ("<br>".join(_cell_lines(row, row.cell(technique))) for technique in HEADINGS)
        lines.append(" | ".join((f"| {head}", *cells)) + " |")
    lines += ["", LEGEND, "", *(f"- {_demand(demand)}" for demand in hunt.demands), f"- {_speed(hunt)}"]
    return "\n".join(lines) + "\n"


def _title(hunt: Hunt) -> str:
    seeds = f"{hunt.seeds} seed" + "s" * (hunt.seeds != 1)
    return f"{len(hunt.rows)} seeded fault{'s' * (len(hunt.rows) != 1)}, {seeds}"


def _shortest(row: Row) -> str:
    """The shortest runs known, for each clause that the exhaustive stage saw broken."""
    if not row.shortest:
        return "no shortest run known"
    return "shortest: " + ", ".join(f"{clause} {length}" for clause, length in row.shortest.items())


def _styled(row: Row, cell: Cell) -> Text:
    lines = list(_cell_lines(row, cell))
    if not cell.found:
        return Text("\n".join(lines), style="dim" if cell.reason else "yellow")
    return Text.assemble((lines[0], "green"), "\n" + "\n".join(lines[1:]))


def _cell_lines(row: Row, cell: Cell) -> Iterator[str]:
    if not cell.found:
        yield "–" if not cell.tried else f"{cell.found} / {cell.tried}"
        yield cell.reason
        return
    yield f"{cell.found} / {cell.tried}"
    yield f"{cell.operations:,.0f} op, {cell.seconds:.2f} s"
    yield f"run {_number(cell.length)}" + (f", longest {cell.longest}" if cell.longest != cell.length else "")
    if cell.named < cell.found:
        others = [f"{clause} {count}" for clause, count in cell.clauses.items() if clause not in row.clauses]
        yield f"named: {cell.named}; else {', '.join(others)}"


def _number(value: float | None) -> str:
    return f"{value:g}"


def _demand(demand: Demand) -> str:
    if not demand.failures:
        return f"holds: {demand.says}"
    return f"FAILS: {demand.says}; not {', '.join(demand.failures)}"


def _speed(hunt: Hunt) -> str:
    """The faults for which fuzzing at the best level takes longer than a second in the median."""
    slow = [row.fault for row in hunt.rows if (row.cell("fuzz-best").seconds or 0) >= MEDIAN_SECONDS]
    limit = f"{MEDIAN_SECONDS:g} s"
    if slow:
        return f"median of {limit} or more at the best level: {', '.join(slow)}"
    return f"every median at the best level is under {limit}"
