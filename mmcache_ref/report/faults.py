"""Seeded faults as a table, and one as a story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.searches import search_for


def faults_table(faults: Iterable[Any]) -> Table:
    """A row for each fault: what is wrong, who finds it, what it breaks."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("fault", "component", "breaks"):
        table.add_column(name, no_wrap=True)
    table.add_column("what is wrong")
    for fault in faults:
        table.add_row(fault.name, fault.component, ", ".join(fault.clauses), escape(fault.title))
    return table


def fault_text(fault: Any, *, run_file: str | None = None) -> RenderableType:
    """The story, the replaced rule, the clauses it breaks, and the commands that show it.

    `run_file`: a stored run of it, where there is one.
    """
    head = f" · {fault.title}" + (f" · {', '.join(fault.upstream)}" if fault.upstream else "")
    lines: list[RenderableType] = [Text.assemble((fault.name, "bold"), head), ""]
    first, *paragraphs = fault.story.split("\n\n")
    for paragraph in (first.partition("   [")[0], *paragraphs):
        lines += [Padding(Text(" ".join(paragraph.split())), (0, 0, 0, 2)), ""]
    rule = fault.rule
    lines += [f"  replaced  {fault.replaces}", f"  by        {rule.__module__}.{rule.__name__}"]
    if fault.accidents:
        lines.append(f"  shows in  {', '.join(fault.accidents)}")
    if fault.without:
        lines.append(f"  lacks     {', '.join(fault.without)}")
    lines.append("")
    for identifier in fault.clauses:
        broken = clause(identifier)
        lines.append(Padding(Text.assemble(f"{broken.id}  ", (f"“{broken.rule}”", "italic")), (0, 0, 0, 2)))
    lines.append("")
    commands = [f"mmcache-ref conform fault:{fault.name} --component {fault.component}"]
    if run_file is not None:
        commands.append(f"mmcache-ref replay fault:{fault.name} {run_file}")
    if fault.accidents:
        model = search_for(fault).model.NAME
        commands.append(f"mmcache-ref explore {model} --with {','.join(fault.accidents)}")
    lines += [Text(f"  {command}", "dim", no_wrap=True, overflow="ignore") for command in commands]
    return Group(*lines)
