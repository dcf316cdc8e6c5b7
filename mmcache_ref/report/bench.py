"""A benchmark as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.bench import COPIES, Bench, Measure, size_in_words
from mmcache_ref.oracle.bench_demands import Demand, demands
from mmcache_ref.report.printed import json_text


def bench_text(bench: Bench) -> RenderableType:
    """A row for each case and size: the median of each target, and ratios; then what is demanded."""
    first, *others = bench.targets
    compared = [*others, COPIES]
    heads = ["case", "size", *bench.targets, COPIES, *(f"×\n{other}" for other in compared)]
    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in heads:
        # In a narrow terminal cells are folded: no figure may lose its unit.
        table.add_column(escape(head), justify="left" if head == "case" else "right", overflow="fold")
    for measure in bench.measures:
        table.add_row(*_cells(measure, bench.targets, compared))
    said = (
        f"{bench.rounds} interleaved rounds, {bench.clock} clock: medians, and medians of the ratios "
        f"of {first} to others."
    )
    parts: list[RenderableType] = [table, "", Text(said, "dim")]
    parts += [Text(f"{name} was not measured: {why}", "yellow") for name, why in bench.lost.items()]
    demanded = demands(bench)
    for each in demanded:
        word, style = ("kept  ", "") if each.is_kept else ("missed", "red")
        parts.append(Text(f"{word}  {demand_in_words(each)}", style))
    parts.append(Text(f"{sum(each.is_kept for each in demanded)} of {len(demanded)} demands kept"))
    return Group(*parts)


def _cells(measure: Measure, targets: Sequence[str], compared: Sequence[str]) -> list[str]:
    times = [time_in_words(measure.median(name)) for name in (*targets, COPIES)]
    ratios = [_ratio(measure.ratio(targets[0], other)) for other in compared]
    return [measure.case, "" if measure.size is None else size_in_words(measure.size), *times, *ratios]


def bench_json(bench: Bench) -> str:
    """Every round of every measure, and the demands, as indented JSON."""
    told = msgspec.to_builtins(bench)
    told["demands"] = [msgspec.to_builtins(each) | {"is_kept": each.is_kept} for each in demands(bench)]
    return json_text(told)


def demand_in_words(demand: Demand) -> str:
    """One demand with what was found."""
    size = "" if demand.size is None else f" of {size_in_words(demand.size)}"
    on_top = f", on top of {COPIES}" if demand.on_top else ""
    return (
        f"{demand.case}{size}{on_top}: {demand.found:.2f} × {demand.other}, demanded at most {demand.limit}"
    )


def time_in_words(seconds: float | None) -> str:
    """`1.25 µs` and the like; a dash for what was not measured."""
    if seconds is None:
        return "–"
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"
