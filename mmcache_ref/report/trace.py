"""An event log as lanes, one for each process, and what a check of it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.model.events import AnyEvent, Asked, Brought, Header, Took
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.run import plain
from mmcache_ref.oracle.trace_check import Checked, Explained, config_of
from mmcache_ref.oracle.wording import state_in_words
from mmcache_ref.report.text import COLOURS


def lanes_of(header: Header) -> list[str]:
    """The processes of a log from left to right."""
    readers = ["p1"] if header.cache == "lru" else [f"w{number}" for number in range(header.workers)]
    return ["p0", "channel", *readers]


def lanes_table(header: Header, order: Sequence[Explained]) -> Table:
    """The events in the order that explains them, each in the lane of its process, the state beside it."""
    model, config = FAMILIES[header.cache].model, config_of(header)
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("line", justify="right", style="dim")
    lanes = lanes_of(header)
    for lane in lanes:
        table.add_column(lane.upper() if lane != "channel" else lane)
    table.add_column("state after", style="dim")
    for entry, state in order:
        words = escape(event_in_words(entry.event))
        cells = [words if lane == entry.event.process else "" for lane in lanes]
        observed = plain(model.observe(config, state))
        table.add_row(str(entry.line), *cells, escape(state_in_words(observed)))
    return table


def event_in_words(event: AnyEvent) -> str:
    """What was done, with what, and the message that was made."""
    words: list[str] = [event.did]
    if isinstance(event, Took):
        words += [f"#{event.message}", *event.keys]
    elif isinstance(event, Asked):
        words += [item.key if item.is_supplied else f"{item.key} (no data)" for item in event.request]
        words += [f"× {event.children}"] if event.children > 1 else []
    elif isinstance(event, Brought):
        words.append(event.key)
    if event.made is not None:
        words.append(f"→ #{event.made}")
    if isinstance(event.saw, dict):
        words.append(f"({event.saw.get('result', 'saw')})")
    return " ".join(words)


def check_text(path: Path, checked: Checked) -> RenderableType:
    """The verdict; before it the first event that no behaviour explains, and the clause."""
    parts: list[RenderableType] = []
    found = checked.unexplained
    if found is not None:
        event = f", {event_in_words(found.event)}" if found.event is not None else ""
        parts += [
            Text.assemble((found.clause, "bold red"), f" line {found.line}{event}"),
            Text(f"  {found.says}"),
            Text(f"  “{clause(found.clause).rule}”", "italic"),
        ]
    if checked.reason:
        parts.append(Text(checked.reason, "yellow"))
    count = f"{checked.explained:,} of {checked.events:,} events explained together"
    parts.append(
        Text.assemble(f"{path.name} ", (checked.status, f"bold {COLOURS[checked.status]}"), f" ({count})")
    )
    return Group(*parts)


def check_json(path: Path, checked: Checked) -> str:
    """The same as indented JSON."""
    told: dict[str, Any] = {"file": path.name, **msgspec.to_builtins(checked)}
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"
