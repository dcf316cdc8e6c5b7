"""An event log as lanes, one for each process: who did what, in the order that explains it, and the state
of the model beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from mmcache_ref.model.events import AnyEvent, Asked, Brought, Header, Took
from mmcache_ref.oracle.event_log import shortened
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.trace_check import Unexplained
from mmcache_ref.oracle.trace_search import Explained
from mmcache_ref.oracle.trace_step import config_of

LONGEST_KEY: Final = 12
"""Characters of a key in a lane; of a longer one its beginning and its end are shown."""
WIDEST: Final = 4
"""So many lanes stand well apart in a narrow terminal; more stand closer."""
MOST_LANES: Final = 6
"""So many lanes fit into it without a break inside."""
LEGEND: Final[Mapping[str, Mapping[str, str]]] = {
    "lru": {
        r"#\d": "#1: a message, by the name that the log gives it; → #1: the message that this made",
        r"\+\S": "+a: sent with its data; a: P0 has it, so the message only names it",
        r"\S\?": "a?: the client gave no data of it",
        r"P0 ": "state: the keys of both caches, the next to be evicted first; blank: as before",
    },
    "shm": {
        r"#\d": "#1: a message, by the name that the log gives it; → #1: the message that this made",
        r"\+\S": "+a: stored anew, its handle is sent; a: in the segment before, its handle is sent",
        r"\S=inline": "a=inline: sent itself, not by a handle",
        r"\S\?": "a?: the client gave no data of it",
        r"@\d": "state: a@3:1/4 is the chunk of a, 3 units from the start; of 4 reads that must come, 1 "
        "came, and after the last its room is free; oldest first; blank: as before",
    },
}
"""By cache, and what it looks like, what a sign means."""


def lanes_of(header: Header) -> list[str]:
    """The processes of a log from left to right."""
    readers = ["p1"] if header.cache == "lru" else [f"w{number}" for number in range(header.workers)]
    return ["p0", "channel", *readers]


def lanes(header: Header, order: Sequence[Explained], unexplained: Unexplained | None = None) -> Group:
    """The events in the order that explains them, each in the lane of its process, the state beside it, then
    the event that nothing explains; below them what the signs mean."""
    names = lanes_of(header)
    table = Table(box=None, padding=(0, 2 if len(names) <= WIDEST else 1, 0, 0))
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    for name in names:
        is_narrow = name != "p0" and len(names) <= MOST_LANES
        title = name if name == "channel" else name.upper()
        table.add_column(title, no_wrap=is_narrow, overflow="fold", min_width=12 if name == "p0" else None)
    table.add_column("state after", style="dim")
    shown = ""
    for line, words, process, state in _rows(header, order):
        table.add_row(str(line), *[words if name == process else "" for name in names], state)
        shown += f" {words} {state}"
    if unexplained is not None and unexplained.event is not None:
        event = unexplained.event
        last = " ".join(words_in_lane(event, ()))
        cells = [Text(last if name == event.process else "", "bold red") for name in names]
        table.add_row(str(unexplained.line), *cells, Text("not explained", "bold red"))
        shown += f" {last}"
    signs = [told for sign, told in LEGEND[header.cache].items() if re.search(sign, shown)]
    return Group(table, *([Text("\n" + "\n".join(signs), "dim")] if signs else []))


def _rows(header: Header, order: Sequence[Explained]) -> Iterator[tuple[int, Text, str, Text]]:
    """Line, words, process and state of each event; the state only where it changed."""
    model, config = FAMILIES[header.cache].model, config_of(header)
    observed = model.observe(config, model.initial(config))
    before = ""
    for entry, state in order:
        words = Text(" ".join(words_in_lane(entry.event, observed.get("keys") or ())))
        words.highlight_words(["refused", "missed", "raised"], "yellow")
        observed = model.observe(config, state)
        after = state_beside(observed, header.workers)
        yield entry.line, words, entry.event.process, Text("" if after == before else after)
        before = after


def words_in_lane(event: AnyEvent, held: Collection[str]) -> list[str]:
    """What was done, with which message or items, and what came of it; `held` is in the segment before it."""
    words: list[str] = [event.did.removeprefix("worker-")]
    if isinstance(event, Took):
        words.append(f"#{event.message}")
    elif isinstance(event, Asked):
        words += list(_items(event, held)) or ["nothing"]
        words += [f"×{event.children}"] if event.children > 1 else []
    elif isinstance(event, Brought):
        words.append(_short(event.key))
    if isinstance(event.saw, dict):
        words.append(str(event.saw.get("result", "")))
        hashes = event.saw.get("hashes")
        if event.saw.get("result") == "missed" and isinstance(hashes, list):
            words += [_short(str(key)) for key in hashes]
        elif event.saw.get("result") == "raised":
            words.append(shortened(str(event.saw.get("error", "")), 30))
    return words if event.made is None else [*words, f"→ #{event.made}"]


def _items(event: Asked, held: Collection[str]) -> Iterator[str]:
    """The keys of a request, with signs that the legend explains."""
    known = set(held)
    saw = event.saw if isinstance(event.saw, list) and len(event.saw) == len(event.request) else None
    for place, item in enumerate(event.request):
        seen = saw[place] if saw is not None else None
        how = seen.get("how", "sent") if isinstance(seen, dict) else ""
        is_new = how == "sent" or (how == "handle" and item.key not in known)
        inline = "=inline" if how == "item" else ""
        known.add(item.key)
        yield f"{'+' if is_new else ''}{_short(item.key)}{'' if item.is_supplied else '?'}{inline}"


def state_beside(observed: Mapping[str, Any], workers: int) -> str:
    """The keys of both caches; or each chunk with its place and how many of its reads have come."""
    if observed.get("dead"):
        return "the engine is dead"
    if "p0.order" in observed:
        sides = [(side, " ".join(map(_short, observed[f"{side}.order"])) or "–") for side in ("p0", "p1")]
        return " | ".join(f"{side.upper()} {keys}" for side, keys in sides)
    columns = [observed[name] for name in ("keys", "layout", "references", "counts")]
    chunks = [
        f"{_short(key)}@{place[0]}:{count}/{references * workers}"
        for key, place, references, count in zip(*columns, strict=True)
    ]
    return " ".join(chunks) or "empty"


def _short(key: str) -> str:
    """A key that fits into a lane."""
    key = shortened(key, 1000)
    return key if len(key) <= LONGEST_KEY else f"{key[:5]}…{key[-4:]}"
