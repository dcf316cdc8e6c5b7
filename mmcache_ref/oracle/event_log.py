"""Event logs: written beside a lockstep, and read back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import msgspec

from mmcache_ref.model.component import Op, tag
from mmcache_ref.model.events import VERSION, AnyEvent, Asked, Brought, Did, Header, Item, Line, Took, doer
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.lockstep import Lockstep
from mmcache_ref.oracle.run import plain
from mmcache_ref.oracle.under_way import Names, follow, keys_at, makes

HOLDS: Final = {("lru", "p0"): "p0.order", ("lru", "p1"): "p1.order", ("shm", "p0"): "keys"}
"""By cache and process the aspect of the model that is the keys of the process's cache."""
BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
LONGEST_REASON: Final = 200
"""Characters of what is said of a line that is no event."""
_decoder: Final = msgspec.json.Decoder(Line)


class BadLog(ValueError):  # noqa: N818 - reads as what it is
    """A file that is no event log."""


class RepeatedField(Exception):  # noqa: N818 - reads as what it is
    """A JSON object that has a field twice: of two values none is the one that the process wrote."""


class Entry(NamedTuple):
    """An event, and the line where it stands."""

    line: int
    event: AnyEvent


class Log(NamedTuple):
    """A log that was read. `bad` are the number of the first line that is no event, and what is wrong."""

    header: Header
    entries: tuple[Entry, ...]
    bad: tuple[int, str] | None = None


def as_json(value: Any) -> Any:
    """A result in the form that it has in a log."""
    return msgspec.json.decode(msgspec.json.encode(plain(value)))


def header_of(cache: str, config: Any) -> Header:
    """What a log of a simulation begins with."""
    protections = tuple(sorted(config.protections))
    if cache == "lru":
        return Header(VERSION, "lru", config.budget, protections)
    return Header(VERSION, "shm", config.capacity, protections, config.limit, config.workers)


class Recorder:
    """Writes an event for each operation that a lockstep has performed. What had to wait is no event."""

    def __init__(self, file: TextIO, cache: str, config: Any) -> None:
        self._file, self._cache = file, cache
        self._state = FAMILIES[cache].model.initial(config)
        self._names, self._made = Names(), 0
        self._numbers: Counter[str] = Counter()
        self._write(header_of(cache, config))

    def __call__(self, lockstep: Lockstep, operation: Op) -> None:
        """Write what the last operation of the lockstep was, as the target did it."""
        before, after = self._state, lockstep.state
        if lockstep.result is False and lockstep.outcome.result is False:
            return
        made = self._made if makes(operation, before, after) else None
        self._made += made is not None
        message = self._names.at(operation)
        self._names = follow(self._names, operation, before, after, made)
        self._state = after
        process = doer(tag(operation))
        if process == "w":
            process = f"w{operation.worker}"  # type: ignore[attr-defined]
        common: dict[str, Any] = {
            "process": process,
            "number": self._numbers[process],
            "did": tag(operation),
            "saw": as_json(lockstep.result),
            "holds": self._holds(lockstep, process),
            "made": made,
        }
        self._numbers[process] += 1
        if message is not None:
            place = operation.position  # type: ignore[attr-defined]
            common |= {"message": message, "keys": keys_at(before, tag(operation), place)}
        self._write(event_of(operation, common))

    def _holds(self, lockstep: Lockstep, process: str) -> tuple[str, ...] | None:
        aspect = HOLDS.get((self._cache, process))
        if aspect is None or lockstep.adapter is None:
            return None
        keys = lockstep.adapter.observe().get(aspect)
        return tuple(map(str, keys)) if isinstance(keys, tuple) else None

    def _write(self, line: Line) -> None:
        self._file.write(msgspec.json.encode(line).decode() + "\n")


def event_of(operation: Any, common: dict[str, Any]) -> AnyEvent:
    """The event of an operation; `common` is what it does not say itself."""
    if "message" in common:
        return Took(**common)
    if hasattr(operation, "request"):
        request = tuple(
            [
                Item(
                    item.key,
                    item.content.nbytes,
                    item.content.fill,
                    item.supplied,
                    getattr(item, "modality", "image"),
                )
                for item in operation.request
            ]
        )
        return Asked(request=request, children=getattr(operation, "children", 1), **common)
    if hasattr(operation, "key"):
        details = {
            name: getattr(operation, name)
            for name in ("is_outdated", "how", "at")
            if hasattr(operation, name)
        }
        return Brought(key=operation.key, **details, **common)
    return Did(**common)


def read_log(path: Path) -> Log:
    """A log from its file; `BadLog` when it has no header, or is no text.   [EV-01]"""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadLog(f"it cannot be read: {error.strerror}") from error
    if not content:
        raise BadLog("line 1 is no header of an event log: the file is empty")
    if content.startswith(BYTE_ORDER_MARKS):
        raise BadLog("line 1 begins with a byte order mark: a log is UTF-8 without one")
    first, *lines = content.splitlines()
    header = _read_line(first)
    if isinstance(header, str):
        raise BadLog(f"line 1 is no header of an event log: {header}")
    if not isinstance(header, Header):
        raise BadLog("line 1 is no header of an event log, but an event")
    entries: list[Entry] = []
    for number, line in enumerate(lines, 2):
        event = _read_line(line)
        if isinstance(event, Header):
            event = "a second header"
        if isinstance(event, str):
            return Log(header, tuple(entries), (number, event))
        entries.append(Entry(number, event))
    return Log(header, tuple(entries))


def _read_line(line: bytes) -> Line | str:
    """The header or the event in a line, or in words why there is none."""
    if not line.strip():
        return "it is empty"
    try:
        read = _decoder.decode(line)
        json.loads(line, object_pairs_hook=_fields, parse_int=str, parse_float=str)
        return read
    except RepeatedField as error:
        return shortened(str(error), LONGEST_REASON)
    except RecursionError:
        return "its JSON is nested too deeply"
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if str(error) == "Input data was truncated":
            return "its JSON ends in the middle; perhaps whoever wrote it was stopped there"
        return shortened(str(error), LONGEST_REASON)


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a JSON object, each of which is there once.   [EV-01]"""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise RepeatedField(f"it has the field `{name}` more than once")
        fields[name] = value
    return fields


def shortened(words: str, most: int) -> str:
    """At most so many characters on a line of a terminal, whatever is in them."""
    shown = "".join([sign if sign.isprintable() else ascii(sign)[1:-1] for sign in words[: most + 1]])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def schema() -> dict[str, Any]:
    """The JSON schema of a line of a log."""
    return msgspec.json.schema(Line)
