"""Event logs that TLC judges, by `TraceKeyReplicated.tla` and `TraceShmCaches.tla`.   [EV-06]

Logs with one header are judged together. What is wrong with a log by itself is known before; whether some
order of its events is a behaviour says TLC alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from mmcache_ref.model import environment, shm_environment
from mmcache_ref.model.events import Asked, Header, Took
from mmcache_ref.oracle.event_log import Entry, Log
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.oracle.trace_check import NOTHING_JUDGED, out_of_place
from mmcache_ref.oracle.trace_step import config_of
from mmcache_ref.tlc.event_codes import DATA, UNBOUNDED, coded, lanes
from mmcache_ref.tlc.manifest import in_models
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.values import parse, text

MODALITIES: Final = ("audio", "image", "video")
MANY, WORKERS = 100, 2
"""From so many logs on, so many threads of TLC."""


@dataclass(frozen=True)
class Module:
    """The TLA+ module that judges the logs of a family of caches, and what it is given."""

    name: str
    dids: frozenset[str]
    accidents: frozenset[str]
    constants: Callable[[Any], Mapping[str, str]]


def _dids(model: Any) -> frozenset[str]:
    """What may be done in a family, by the names of the model's operations."""
    return frozenset(str(each.__struct_config__.tag) for each in get_args(model.Operation))


MODULES: Final[Mapping[str, Module]] = {
    "lru": Module(
        "TraceKeyReplicated",
        _dids(FAMILIES["lru"].model),
        frozenset(environment.ACCIDENTS),
        lambda config: {"Budget": str(config.budget), "Clears": str(UNBOUNDED)},
    ),
    "shm": Module(
        "TraceShmCaches",
        _dids(FAMILIES["shm"].model),
        frozenset(shm_environment.ACCIDENTS),
        lambda config: {
            "Capacity": str(config.capacity),
            "Limit": str(config.limit),
            "Workers": str(config.workers),
            "ForgedKey": "None",
        },
    ),
}
"""By the `cache` of a log's header."""


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
    if not log.entries:
        return Judged("undetermined", 0, None, NOTHING_JUDGED)
    module = MODULES[log.header.cache]
    foreign = [entry for entry in log.entries if entry.event.did not in module.dids]
    if foreign:
        return Judged(
            "violates", 0, foreign[0], f"with --cache {log.header.cache} nobody does {foreign[0].event.did}"
        )
    if log.header.cache == "shm":
        return None
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
    left = [lane[at - 1 :] for lane, at in zip(lanes(log), course.at, strict=True)]
    to_be_made = {entry.event.made for lane in left for entry in lane}

    def rank(number: int) -> tuple[bool, bool, int]:
        line, event = left[number - 1][0]
        is_early = isinstance(event, Took) and event.message in to_be_made
        return number not in course.due, is_early, line

    first = min([number for number, lane in enumerate(left, 1) if lane], key=rank)
    return Judged("violates", course.explained, left[first - 1][0])


def _told(logs: Sequence[Log], what: str, seconds: float) -> tuple[dict[int, _Course], str]:
    """The logs of which TLC tells this, by number, each with the places it came to; and what went wrong."""
    told: dict[int, _Course] = {}

    def printed(line: str) -> None:
        if not line.startswith(f'<<"{what}"'):
            return
        _, number, at, due = parse(line)
        course = _Course(at, due)
        told[number - 1] = max(told.get(number - 1, course), course, key=lambda each: each.explained)

    with scratch("logs") as folder:
        job = _job(folder, logs, what == "so far", seconds)
        found = run(job, printed=printed)
    return told, found.went_wrong()


def _job(folder: Path, logs: Sequence[Log], tells_course: bool, seconds: float) -> Job:
    """The module with the logs, and its configuration, in a copy of `models/`."""
    header = logs[0].header
    module = MODULES[header.cache]
    for each in in_models(f"{module.name}.tla").parent.glob("*.tla"):
        shutil.copy(each, folder)
    (folder / f"{DATA}.tla").write_text(coded(logs), encoding="utf-8")
    settings = folder / f"{module.name}.cfg"
    constants = {
        **module.constants(config_of(header)),
        "Depth": str(UNBOUNDED),
        "Accidents": _names(module.accidents),
        "Protections": _names(header.protections),
        "None": "None",
        "TellsCourse": "TRUE" if tells_course else "FALSE",
    }
    settings.write_text(
        "CONSTANTS\n"
        + "".join(f"    {name} = {value}\n" for name, value in constants.items())
        + "    Asked <- NoRequests\n"
        "SPECIFICATION TraceSpec\nVIEW traceView\nINVARIANT IsTold\n",
        encoding="utf-8",
    )
    return Job(
        folder / f"{module.name}.tla",
        settings,
        ends_early=True,
        is_short=len(logs) < MANY,
        workers=WORKERS if len(logs) >= MANY else 1,
        seconds=seconds,
    )


def _names(names: Iterable[str]) -> str:
    return text(frozenset(names))
