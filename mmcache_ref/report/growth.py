"""What operations cost with few keys and with many, as a table and as JSON."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.growth import Growth
from mmcache_ref.report.bench import time_in_words
from mmcache_ref.report.printed import json_text


def growth_text(growth: Growth) -> RenderableType:
    """A row for each operation: the median of a call, by target and number of keys."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("cache", no_wrap=True)
    table.add_column("operation")
    for target in growth.targets:
        for keys in growth.keys:
            table.add_column(f"{escape(target)}\n{keys:,} keys", justify="right")
    for cache, operation in growth.operations():
        cells = []
        for target in growth.targets:
            costs = growth.of(cache, operation, target)
            cells += [time_in_words(costs[keys].seconds if keys in costs else None) for keys in growth.keys]
        table.add_row(cache, escape(operation), *cells)
    parts: list[RenderableType] = [table, ""]
    parts += [Text(line) for target in growth.targets for line in _growing(growth, target)]
    return Group(*parts)


def _growing(growth: Growth, target: str) -> list[str]:
    found = [
        f"{cache}: {name}" for cache, name in growth.operations() if growth.is_growing(cache, name, target)
    ]
    return [f"{target} executes more lines with more keys in {each}" for each in found] or [
        f"{target} executes as many lines with many keys as with few, in every operation"
    ]


def growth_json(growth: Growth) -> str:
    """Every cost, as indented JSON."""
    return json_text(growth)
