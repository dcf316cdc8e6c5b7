"""Event logs that were tampered with: one field, or one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from mmcache_ref.oracle.event_log import Recorder, read_log
from mmcache_ref.oracle.simulation import Plan, simulate
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.trace_check import Checked, check

Line = dict[str, Any]
Path_ = tuple[Any, ...]
ELEMENTS = "elements"
OTHERS = {
    "process": ["p0", "p1", "w0", "w1", "channel"],
    "did": ["submit", "deliver", "read", "abort", "retry", "clear", "clear-p1", "resume", "finish"],
    "how": ["handle", "item", "nothing", "unsigned", "wrong-key"],
    "result": ["missed", "refused", "carried", "raised"],
    "error": ["KeyError"],
    "says": ["no"],
    "at": ["p0", "worker"],
    "modality": ["audio", "image", "video"],
}


def simulated(folder: Path, plan: Plan, target: str = "reference") -> list[Line]:
    """The lines of the log of a simulation."""
    file = folder / "simulated.ndjson"
    with file.open("w") as stream:
        simulate(target, resolve(target), plan, observer=Recorder(stream, plan.cache, plan.config))
    return [json.loads(line) for line in file.read_text().splitlines()]


def written(folder: Path, lines: list[Line]) -> Path:
    """The file of a log."""
    file = folder / "log.ndjson"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def judged(folder: Path, lines: list[Line]) -> Checked:
    """What a check of the log says."""
    return check(read_log(written(folder, lines)))[0]


def copied(lines: list[Line]) -> list[Line]:
    """The lines anew, nothing of them shared: a change in one place must change no other."""
    return list(json.loads(json.dumps(lines)))


def by_process(lines: list[Line]) -> list[Line]:
    """The log as one file of each process after the other."""
    return [lines[0], *sorted(lines[1:], key=lambda line: str(line["process"]))]


def renumbered(lines: list[Line]) -> list[Line]:
    """The events numbered again, so that nothing but what they say tells what is wrong."""
    counts: dict[str, int] = {}
    for line in lines[1:]:
        line["number"] = counts.get(line["process"], 0)
        counts[line["process"]] = line["number"] + 1
    return lines


def fields(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The paths of all fields of an event; of a list also how many elements it has."""
    if isinstance(value, dict):
        for name, member in value.items():
            if path or name != "event":
                yield (*path, name)
                yield from fields(member, (*path, name))
    elif isinstance(value, list):
        yield (*path, ELEMENTS)
        for place, member in enumerate(value):
            yield (*path, place)
            yield from fields(member, (*path, place))


def named(path: Path_) -> str:
    """The field of a path, whichever element of a list it is of."""
    return ".".join("#" if isinstance(part, int) else part for part in path)


def tamper(line: Line, path: Path_, random: Random) -> None:
    """Change one field of an event to another value of its kind."""
    *parents, last = path
    holder: Any = line
    for parent in parents:
        holder = holder[parent]
    if last == ELEMENTS:
        if holder:
            holder.pop(random.randrange(len(holder)))
        else:
            holder.append("z")
        return
    holder[last] = _another(last, holder[last], random)


def _another(name: Any, old: Any, random: Random) -> Any:
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + random.choice([1, 2]) if old < 2 else old - 1
    if isinstance(old, str):
        return random.choice([each for each in OTHERS.get(name, ["a", "b", "c", "z"]) if each != old])
    if old is None:
        return {"nbytes": 1, "fill": 1}
    if isinstance(old, list):
        return [] if old else ["z"]
    return None
