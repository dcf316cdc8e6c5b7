"""Event logs that TLC judges: as numbers in a module of their own beside `TraceKeyReplicated.tla`.   [EV-06]

Logs with one header are judged together. What is wrong with a log by itself is known before; whether some
order of its events is a behaviour says TLC alone.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from mmcache_ref.model.environment import ACCIDENTS
from mmcache_ref.model.events import AnyEvent, Asked, Header, Took
from mmcache_ref.oracle.event_log import Entry, Log
from mmcache_ref.oracle.trace_check import out_of_place
from mmcache_ref.oracle.trace_step import config_of
from mmcache_ref.tlc.manifest import in_models
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.values import parse, text

MODULE: Final = "TraceKeyReplicated"
DATA: Final = "JudgedLogs"
"""The module with the logs; the one in `models/` is an example."""
PROCESSES: Final = ("p0", "p1", "channel")
DIDS: Final = (
    "submit",
    "check",
    "reject",
    "dry-run",
    "bypass",
    "second-front-end",
    "second-engine",
    "update",
    "clear-p0",
    "clear-both",
    "handle-report",
    "lose-report",
    "retry",
    "deliver",
    "clear-p1",
    "finish-clear",
    "restart-p1",
    "abort",
    "drop",
)
"""`Dids` of the module, in its order."""
UNBOUNDED: Final = 1 << 30
ABSENT: Final = -1
NOTHING, LISTED, MISSED, REFUSED, RAISED, ANSWERED, OTHER = range(7)
"""The forms of what a process saw."""
MODALITIES: Final = ("audio", "image", "video")
MANY, WORKERS = 100, 2
"""From so many logs on, so many threads of TLC."""


class Judged(NamedTuple):
    """What TLC says of a log: whether some order explains it, and how many events the longest one explains.

    When it violates, `first` is the event with which that order could not go on.
    """

    status: Literal["conforms", "violates", "undetermined"]
    explained: int
    first: Entry | None = None
    reason: str = ""


class _Course(NamedTuple):
    """How far a behaviour comes: for each lane the place of its next event, and the lanes whose next event
    has to be the next of all, and could be but for what the process saw."""

    at: tuple[int, ...]
    due: frozenset[int]

    @property
    def explained(self) -> int:
        """How many events it explains."""
        return sum(self.at) - len(self.at)


@dataclass
class _Tables:
    """What the numbers of events stand for."""

    keys: dict[str, int] = field(default_factory=dict)
    contents: dict[tuple[int, int], int] = field(default_factory=dict)
    items: dict[tuple[int, int, int, str], int] = field(default_factory=dict)
    forms: dict[tuple[Any, ...], int] = field(default_factory=dict)

    @staticmethod
    def _number(table: dict[Any, int], value: Any) -> int:
        return table.setdefault(value, len(table) + 1)

    def key(self, key: str) -> int:
        """The number of an identity."""
        return self._number(self.keys, key)

    def content(self, nbytes: int, fill: int) -> int:
        """The number of a content."""
        return self._number(self.contents, (nbytes, fill))

    def form(self, event: AnyEvent) -> int:
        """The number of what an event says besides the names of messages."""
        request = event.request if isinstance(event, Asked) else ()
        items = tuple(
            [
                self._number(
                    self.items,
                    (
                        self.key(each.key),
                        self.content(each.nbytes, each.fill),
                        int(each.is_supplied),
                        each.modality,
                    ),
                )
                for each in request
            ]
        )
        keys = tuple(map(self.key, event.keys)) if isinstance(event, Took) else ()
        holds = (ABSENT,) if event.holds is None else tuple(map(self.key, event.holds))
        return self._number(self.forms, (DIDS.index(event.did) + 1, items, keys, self.saw(event.saw), holds))

    def learn(self, event: AnyEvent) -> None:
        """Number the keys of an event: before an exception can name them, they have to be known."""
        named = event.request if isinstance(event, Asked) else ()
        for key in (*[each.key for each in named], *getattr(event, "keys", ()), *(event.holds or ())):
            self.key(key)

    def saw(self, saw: Any) -> tuple[int, tuple[int, ...]]:
        """What a process saw: its form and its numbers."""
        if saw is None:
            return NOTHING, ()
        if isinstance(saw, list):
            if saw and all(each in (0, 1) for each in saw):
                return ANSWERED, tuple(map(int, saw))
            return LISTED, tuple(map(self._shown, saw))
        if isinstance(saw, dict) and saw.get("result") == "raised":
            says = str(saw.get("says", ""))
            named = [number for key, number in self.keys.items() if key in says]
            return (RAISED, tuple(named)) if saw.get("error") == "AssertionError" else (OTHER, ())
        if isinstance(saw, dict) and saw.keys() == {"result", "hashes"} and isinstance(saw["hashes"], list):
            form = {"missed": MISSED, "refused": REFUSED}.get(saw["result"], OTHER)
            return form, tuple([self.key(str(each)) for each in saw["hashes"]])
        return OTHER, ()

    def _shown(self, content: Any) -> int:
        """The number of a content that was seen; 0 for none, and another for what is no content."""
        if content is None:
            return 0
        if isinstance(content, dict) and content.keys() == {"nbytes", "fill"}:
            nbytes, fill = content["nbytes"], content["fill"]
            if type(nbytes) is int and type(fill) is int:
                return self.content(nbytes, fill)
        return ABSENT


def judge(logs: Sequence[Log], *, seconds: float = 600) -> list[Judged]:
    """What TLC says of each of these logs; those with one header are judged at once.   [EV-06]"""
    found: list[Judged | None] = [_before(log) for log in logs]
    asked: dict[Header, list[int]] = {}
    for place, log in enumerate(logs):
        if found[place] is None:
            asked.setdefault(log.header, []).append(place)
    for places in asked.values():
        for place, verdict in zip(places, _run([logs[each] for each in places], seconds), strict=True):
            found[place] = verdict
    return [each for each in found if each is not None]


def _before(log: Log) -> Judged | None:
    """The verdict on a log that needs no search; None where it needs one."""
    wrong = out_of_place(log)
    if wrong is not None:
        first = next((entry for entry in log.entries if entry.line == wrong.line), None)
        return Judged("violates", 0, first, wrong.says)
    if log.header.cache != "lru":
        return Judged("undetermined", 0, None, "there is a module for logs of key-replicated pairs only")
    foreign = [entry for entry in log.entries if entry.event.did not in DIDS]
    if foreign:
        return Judged("violates", 0, foreign[0], f"in a pair nobody does {foreign[0].event.did}")
    modalities = {
        item.modality for _, event in log.entries if isinstance(event, Asked) for item in event.request
    }
    if config_of(log.header).grouped and not modalities <= set(MODALITIES):
        return Judged(
            "undetermined", 0, None, f"the module knows the modalities {', '.join(MODALITIES)} only"
        )
    return None


def _run(logs: Sequence[Log], seconds: float) -> list[Judged]:
    """TLC on all of these logs; and once more on those that it does not explain, to see where they end."""
    explained, reason = _told(logs, "explained", seconds)
    rejected = [number for number in range(len(logs)) if number not in explained]
    stuck: dict[int, _Course] = {}
    if rejected and not reason:
        ends, reason = _told([logs[number] for number in rejected], "so far", seconds)
        stuck = {rejected[number]: course for number, course in ends.items()}
    verdicts: list[Judged] = []
    for number, log in enumerate(logs):
        if number in explained:
            verdicts.append(Judged("conforms", len(log.entries)))
        elif reason or number not in stuck:
            verdicts.append(Judged("undetermined", 0, None, reason or "TLC does not tell where it ends"))
        else:
            verdicts.append(_rejected(log, stuck[number]))
    return verdicts


def _rejected(log: Log, course: _Course) -> Judged:
    """A log that no order explains, and the event with which the longest one cannot go on.

    That is one that has to be next, but for what was seen; else one whose message nobody is still to make,
    for it waits in vain; else the first line.
    """
    left = [lane[at - 1 :] for lane, at in zip(_lanes(log.entries), course.at, strict=True)]
    to_be_made = {entry.event.made for lane in left for entry in lane}

    def rank(number: int) -> tuple[bool, bool, int]:
        line, event = left[number - 1][0]
        is_early = isinstance(event, Took) and event.message in to_be_made
        return number not in course.due, is_early, line

    first = min([number for number, lane in enumerate(left, 1) if lane], key=rank)
    return Judged("violates", course.explained, left[first - 1][0])


def _lanes(entries: Iterable[Entry]) -> list[list[Entry]]:
    entries = list(entries)
    return [[entry for entry in entries if entry.event.process == process] for process in PROCESSES]


def _told(logs: Sequence[Log], what: str, seconds: float) -> tuple[dict[int, _Course], str]:
    """The logs of which TLC tells this, by number, each with the places it came to; and what went wrong."""
    told: dict[int, _Course] = {}

    def printed(line: str) -> None:
        if not line.startswith(f'<<"{what}"'):
            return
        _, number, at, due = parse(line)
        course = _Course(at, due)
        told[number - 1] = max(told.get(number - 1, course), course, key=lambda each: each.explained)

    with tempfile.TemporaryDirectory(prefix="mmcache-logs-") as folder:
        job = _job(Path(folder), logs, what == "so far", seconds)
        found = run(job, printed=printed)
    reason = "" if found.result == "success" else "; ".join([found.result, *found.errors[:3]])
    return told, reason


def _job(folder: Path, logs: Sequence[Log], tells_course: bool, seconds: float) -> Job:
    """The module with the logs, and its configuration, in a copy of `models/`."""
    for module in in_models(f"{MODULE}.tla").parent.glob("*.tla"):
        shutil.copy(module, folder)
    config = config_of(logs[0].header)
    tables = _Tables()
    for log in logs:
        for _, event in log.entries:
            tables.learn(event)
    names = [_names_of(log) for log in logs]
    base = max(map(len, names)) + 1
    coded = [
        tuple([_coded(tables, lane, named, base) for lane in _lanes(log.entries)])
        for log, named in zip(logs, names, strict=True)
    ]
    (folder / f"{DATA}.tla").write_text(_module(tables, coded, base), encoding="utf-8")
    settings = folder / f"{MODULE}.cfg"
    settings.write_text(
        "CONSTANTS\n"
        f"    Budget = {config.budget}\n    Depth = {UNBOUNDED}\n    Clears = {UNBOUNDED}\n"
        f"    Accidents = {_names(ACCIDENTS)}\n    Protections = {_names(config.protections)}\n"
        "    None = None\n    Asked <- NoRequests\n"
        f"    TellsCourse = {'TRUE' if tells_course else 'FALSE'}\n"
        "SPECIFICATION TraceSpec\nVIEW traceView\nINVARIANT IsTold\n",
        encoding="utf-8",
    )
    return Job(
        folder / f"{MODULE}.tla",
        settings,
        ends_early=True,
        is_short=True,
        workers=WORKERS if len(logs) >= MANY else 1,
        seconds=seconds,
    )


def _names_of(log: Log) -> dict[int, int]:
    """The names of messages in a log, numbered anew in the order in which they occur: whatever logs name
    alike, the same events then have the same numbers."""
    names: dict[int, int] = {}
    for _, event in log.entries:
        for name in (event.made, event.message if isinstance(event, Took) else None):
            if name is not None:
                names.setdefault(name, len(names) + 1)
    return names


def _coded(tables: _Tables, lane: Iterable[Entry], names: dict[int, int], base: int) -> tuple[int, ...]:
    """The events of a process, two numbers each."""
    numbers: list[int] = []
    for _, event in lane:
        message = names[event.message] if isinstance(event, Took) else 0
        made = 0 if event.made is None else names[event.made]
        numbers += (tables.form(event), message * base + made)
    return tuple(numbers)


def _module(tables: _Tables, coded: Sequence[Any], base: int) -> str:
    return (
        f"---- MODULE {DATA} ----\nEXTENDS Integers\n"
        "(* Event logs in numbers, as TraceKeyReplicated reads them. *)\n"
        f"Keys == {text(tuple(tables.keys))}\n"
        f"Items == {text(tuple(tables.items))}\n"
        f"Contents == {text(tuple(tables.contents))}\n"
        "Forms == <<\n" + ",\n".join(map(text, tables.forms)) + "\n>>\n"
        f"Names == {base}\n"
        "Logs == <<\n" + ",\n".join(map(text, coded)) + "\n>>\n====\n"
    )


def _names(names: Iterable[str]) -> str:
    return text(frozenset(names))
