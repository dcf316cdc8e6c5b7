"""The interop matrix as a table, and as JSON."""

from __future__ import annotations

from typing import Final

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.interop import Matrix
from mmcache_ref.oracle.interop_checks import CHECKS
from mmcache_ref.report.printed import json_text

STYLES: Final = {"yes": "green", "no": "red", "undetermined": "yellow"}


def interop_text(matrix: Matrix) -> RenderableType:
    """A row for each pair, a column for each check; below, what was tried and why something failed."""
    table = Table(
        title="Writer and readers in processes of their own, over one segment", title_justify="left"
    )
    for name in ("writer", "reader", *CHECKS):
        table.add_column(name)
    for pair in matrix.pairs:
        answers = [Text(cell.answer, style=STYLES[cell.answer]) for cell in pair.cells]
        table.add_row(escape(pair.writer), escape(pair.reader), *answers)
    tried = {cell.check: cell.reason for pair in matrix.pairs for cell in pair.cells if cell.answer == "yes"}
    parts: list[RenderableType] = [table]
    parts += [Text(f"{check}: {reason}", style="dim") for check, reason in tried.items()]
    for pair in matrix.pairs:
        for cell in pair.cells:
            if cell.answer != "yes":
                head = f"{pair.writer} writes, {pair.reader} reads, {cell.check}: {cell.answer}. "
                parts.append(Text.assemble((head, STYLES[cell.answer]), cell.reason))
    parts.append(Text(f"interop {matrix.status}"))
    return Group(*parts)


def interop_json(matrix: Matrix) -> str:
    """The matrix as indented JSON, with its status."""
    told = msgspec.to_builtins(matrix) | {"status": matrix.status}
    return json_text(told)
