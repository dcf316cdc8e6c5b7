"""The protocol under load, as a table and as JSON."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.bench import size_in_words
from mmcache_ref.oracle.load import UNDER_WAY, Load, LoadBench
from mmcache_ref.report.printed import json_text


def load_text(bench: LoadBench) -> RenderableType:
    """A row for each setting: requests and bytes per second of each target, and the ratio of their times."""
    first, *others = bench.targets
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("cache", "workers", "hits", "size"):
        table.add_column(name, justify="left" if name == "cache" else "right", no_wrap=True)
    for target in bench.targets:
        table.add_column(f"{escape(target)}\nrequests/s", justify="right")
        table.add_column("\nMiB/s", justify="right")
    for other in others:
        table.add_column(f"time ×\n{escape(other)}", justify="right")
    for load in bench.loads:
        table.add_row(*_cells(load, bench.targets))
    seconds = "seconds" if bench.clock == "wall" else "processor seconds of all parts together"
    said = (
        f"{bench.rounds} interleaved rounds, {UNDER_WAY} requests at once, one item each: medians, and those "
        f"of the ratios of {first} to others, in {seconds}. MiB/s are those of all workers."
    )
    return Group(table, "", Text(said, "dim"))


def _cells(load: Load, targets: tuple[str, ...]) -> list[str]:
    setting = load.setting
    cells = [
        setting.cache,
        str(setting.workers),
        f"{load.hit_rates[targets[0]]:.0%}",
        size_in_words(setting.size),
    ]
    for target in targets:
        cells += [f"{load.requests_per_second(target):,.0f}", f"{load.bytes_per_second(target) / 2**20:,.1f}"]
    return cells + [f"{load.ratio(targets[0], other):.2f}" for other in targets[1:]]


def load_json(bench: LoadBench) -> str:
    """Every round of every setting, as indented JSON."""
    return json_text(bench)
