"""What a check of an event log says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from mmcache_ref.model.events import AnyEvent, Asked, Brought, Took
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.event_log import shortened
from mmcache_ref.oracle.trace_check import Checked
from mmcache_ref.report.printed import json_text
from mmcache_ref.report.text import COLOURS

LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")
"""A link of Markdown and what it shows; `code` stays as it is."""
LONGEST_EVENT: Final = 400
"""Characters of an event in words."""


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
    return shortened(" ".join(words), LONGEST_EVENT)


def check_text(path: Path, checked: Checked) -> RenderableType:
    """The verdict; before it the first event that no behaviour explains, and the clause."""
    parts: list[RenderableType] = []
    found = checked.unexplained
    if found is not None:
        rule = LINK.sub(r"\1", clause(found.clause).rule)
        event = f", {event_in_words(found.event)}" if found.event is not None else ""
        parts += [
            Text.assemble((found.clause, "bold red"), f" line {found.line}{event}"),
            Text(f"  {found.says}"),
            Text(f"  “{rule}”", "italic"),
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
    return json_text(told)
