"""Clauses and the matrix of the views that serve them, for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.clauses import Clause


def origin(each: Clause) -> str:
    """Where a clause comes from: `seed`, or the field faults that it answers."""
    return ", ".join(each.faults) if each.is_stronger else "seed"


def clause_text(each: Clause, serving: dict[str, tuple[str, ...]]) -> RenderableType:
    """A clause with its rule, its notes, and who serves it."""
    came_from = f"stronger: {origin(each)}" if each.is_stronger else origin(each)
    lines: list[RenderableType] = [
        Text.assemble((each.id, "bold"), f" · {each.level} · {came_from} · spec/{each.file}"),
        Padding(Text(each.rule), (0, 0, 0, 2)),
    ]
    lines += [_drawn(block) for block in each.notes.split("\n\n") if block]
    lines.append("")
    for view, places in serving.items():
        lines.append(f"  {view:10} {', '.join(places) or '–'}")
    return Group(*lines)


def _drawn(block: str) -> RenderableType:
    """A block of the notes, with a line before it, which a table has itself."""
    if block.startswith("|"):
        return Padding(Markdown(block, style="dim"), (0, 0, 0, 2))
    return Padding(Text(block, style="dim"), (1, 0, 0, 2))


def matrix_table(
    rows: Iterable[tuple[Clause, dict[str, tuple[str, ...]]]],
    views: Sequence[str],
    unknown: Collection[str] = (),
) -> Table:
    """The matrix clause × view: how many places serve it; `–` where the specification asks for none, `?` in
    the views that are not installed here. Below it, what the signs mean."""
    rows = list(rows)
    table = Table(box=None, padding=(0, 2, 0, 0), caption=_legend(rows, views, unknown))
    table.caption_justify = "left"
    for name in ("clause", "level", "origin"):
        table.add_column(name, no_wrap=True)
    for view in views:
        table.add_column(view, justify="right")
    for each, serving in rows:
        cells = []
        for view in views:
            is_demanded = view in each.views
            lack = "?" if view in unknown else "[red]missing[/red]"
            cells.append(str(len(serving[view])) if serving[view] else lack if is_demanded else "–")
        table.add_row(each.id, each.level, origin(each), *cells)
    return table


def _legend(
    rows: Sequence[tuple[Clause, dict[str, tuple[str, ...]]]], views: Sequence[str], unknown: Collection[str]
) -> str:
    """What a number, a dash and a question mark mean, and which views no clause demands."""
    said = ["A number is how many places serve the clause; – is a view that its file does not demand."]
    idle = [view for view in views if not any(view in each.views or serving[view] for each, serving in rows)]
    if idle:
        said.append(f"No clause demands a {' or a '.join(idle)} yet.")
    if unknown:
        said.append(f"? is unknown: {', '.join(unknown)} is not installed here.")
    return " ".join(said)
