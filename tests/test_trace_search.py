"""The search behind `trace check`: quick, and as right as trying every order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from all_orders import is_explained
from tampering import Line, by_process, copied, fields, judged, named, renumbered, simulated, tamper, written

from mmcache_ref.oracle.event_log import read_log
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.simulation import Plan
from mmcache_ref.oracle.trace_check import check
from mmcache_ref.oracle.trace_lanes import Lanes, Place
from mmcache_ref.oracle.trace_step import Partial, Steps

pytestmark = pytest.mark.timeout(600)


def assert_is_a_behaviour(folder: Path, lines: list[Line]) -> None:
    """The order that explains a log keeps the order of each process, and every step of it is the model's."""
    log = read_log(written(folder, lines))
    checked, order = check(log)
    assert checked.explained == len(log.entries)
    steps, lanes = Steps(log.header), Lanes(log.header, log.entries)
    partial = steps.first(len(lanes.events))
    for entry, state in order:
        lane = lanes.names.index(entry.event.process)
        assert lanes.events[lane][partial.places[lane]] == entry
        after = steps.step(partial, lane, entry)
        assert isinstance(after, Partial)
        assert after.state == state
        partial = after


def random_plan(random: Random) -> Plan:
    cache = random.choice(["lru", "shm"])
    model = FAMILIES[cache].model
    share = random.choice([0.2, 0.8])
    accidents = tuple([name for name in model.ACCIDENTS if random.random() < share])
    protections = random.choice(
        [("default",), (), tuple([name for name in model.PROTECTIONS if random.random() < 0.6])]
    )
    requests, workers = random.choice([4, 8, 16]), random.choice([1, 2, 2, 3])
    return Plan(cache, requests, workers, random.randrange(1 << 16), accidents, protections)


def spoiled(lines: list[Line], random: Random) -> list[Line]:
    """A field changed, two events of a process swapped, one lost, or one moved to another worker."""
    lines = copied(lines)
    at = random.randrange(1, len(lines))
    way = random.choice(["field", "field", "field", "swap", "lose", "move", "nothing"])
    if way == "field":
        paths = [path for path in fields(lines[at]) if path[0] not in ("process", "number", "did")]
        if paths:
            tamper(lines[at], random.choice(paths), random)
    elif way == "swap":
        others = [place for place, line in enumerate(lines) if line.get("process") == lines[at]["process"]]
        other = random.choice(others)
        lines[at], lines[other] = lines[other], lines[at]
    elif way == "lose":
        lines.pop(at)
    elif way == "move" and lines[at]["process"][0] == "w":
        lines[at]["process"] = f"w{random.randrange(lines[0]['workers'])}"
    if random.random() < 0.3:
        for line in lines[1:]:
            if random.random() < 0.7:
                line.pop("holds", None)
    lines = renumbered(lines)
    return by_process(lines) if random.random() < 0.5 else lines


@pytest.mark.clause("EV-06")
@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_an_order_exactly_where_one_of_all_orders_is_right(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    lines = simulated(tmp_path, random_plan(random))[: random.choice([12, 20, 30])]
    if len(lines) < 3:
        return
    for _ in range(8):
        log = read_log(written(tmp_path, spoiled(lines, random)))
        truth = None if log.bad is not None else is_explained(log)
        if truth is not None:
            assert check(log)[0].status == ("conforms" if truth else "violates")


@pytest.mark.clause("EV-06")
@pytest.mark.parametrize("cache", ["lru", "shm"])
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("protections", [(), ("default",)])
@pytest.mark.parametrize("requests", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_a_long_log_is_explained_though_its_processes_wrote_a_file_each(
    tmp_path: Path, cache: str, workers: int, protections: tuple[str, ...], requests: int
) -> None:
    accidents = ("all",) if cache == "lru" or protections else ()
    lines = simulated(tmp_path, Plan(cache, requests, workers, 3, accidents, protections))
    assert_is_a_behaviour(tmp_path, by_process(lines))


SAME_TO_ALL = {
    "request.#.key", "request.#.nbytes", "request.#.fill", "request.#.modality", "request.#.is_supplied",
    "request.elements", "request.#", "request", "children", "key", "is_outdated", "how", "at", "did", "made",
    "message", "saw.says", "saw.error",
}  # fmt: skip
"""Fields that need not have been seen by anybody: of requests that were refused, of handles that were."""


@pytest.mark.clause("EV-01", "EV-02", "EV-03", "EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize("cache", ["lru", "shm"])
@pytest.mark.parametrize("requests", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_each_field_of_each_kind_of_event_that_was_tampered_with_is_found(
    tmp_path: Path, cache: str, requests: int
) -> None:
    lines = simulated(tmp_path, Plan(cache, requests, 3, 5, ("all",)))
    random = Random(7)
    places: dict[tuple[str, str], list[tuple[int, Any]]] = {}
    for at, line in enumerate(lines[1:], 1):
        for path in fields(line):
            places.setdefault((line["did"], named(path)), []).append((at, path))
    verdicts: Counter[str] = Counter()
    for (_, name), found in sorted(places.items()):
        at, path = random.choice(found)
        tampered = copied(lines)
        tamper(tampered[at], path, random)
        if tampered == lines:
            continue
        if random.random() < 0.5:
            tampered = by_process(tampered)
        checked = judged(tmp_path, tampered)
        verdicts[checked.status] += 1
        if checked.status == "conforms":
            assert name in SAME_TO_ALL, (at + 1, path)
            assert_is_a_behaviour(tmp_path, tampered)
    assert verdicts["undetermined"] == 0
    assert verdicts["violates"] >= 0.85 * verdicts.total(), verdicts


def locked(*locks: tuple[str, tuple[int, int]]) -> list[Line]:
    """Two workers that read one message, with the numbers that the lock had."""
    item = {"key": "c", "nbytes": 2, "fill": 3}
    content = {"nbytes": 2, "fill": 3}
    carried = {"result": "carried", "how": "handle", "content": content}
    lines: list[Line] = [
        {"event": "header", "version": 1, "cache": "shm", "capacity": 4, "protections": [], "limit": 3,
         "workers": 2},
        {"event": "request", "process": "p0", "number": 0, "did": "submit", "request": [item],
         "saw": [carried], "holds": ["c"], "made": 0},
        {"event": "message", "process": "w0", "number": 0, "did": "read", "message": 0, "keys": ["c"],
         "saw": [content]},
        {"event": "message", "process": "w1", "number": 0, "did": "read", "message": 0, "keys": ["c"],
         "saw": [content]},
        {"event": "step", "process": "p0", "number": 1, "did": "clear", "holds": []},
    ]  # fmt: skip
    for process, lock in locks:
        next(line for line in reversed(lines) if line.get("process") == process)["lock"] = list(lock)
    return lines


@pytest.mark.clause("EV-07")
def test_the_numbers_of_a_lock_tell_which_event_came_first(tmp_path: Path) -> None:
    assert judged(tmp_path, locked(("w0", (1, 2)), ("w1", (3, 3)), ("p0", (4, 5)))).status == "conforms"
    assert judged(tmp_path, locked(("w0", (1, 4)), ("w1", (2, 3)))).status == "conforms"
    late = judged(tmp_path, locked(("w0", (6, 6)), ("p0", (4, 5))))
    assert late.unexplained is not None
    assert (late.status, late.unexplained.line) == ("violates", 3)
    assert judged(tmp_path, locked()).status == "conforms"


@pytest.mark.clause("EV-07")
def test_an_order_that_the_lock_rules_out_is_named_so(tmp_path: Path) -> None:
    lines = locked(("w0", (6, 6)), ("p0", (4, 5)))
    lines[0]["protections"] = ["drained-clear"]
    late = judged(tmp_path, lines)
    assert late.unexplained is not None
    assert (late.status, late.unexplained.line, late.unexplained.clause) == ("violates", 3, "EV-07")


@pytest.mark.clause("EV-07")
@pytest.mark.parametrize(
    ("locks", "line"),
    [
        ([("w0", (1, 2)), ("w1", (2, 3))], 4),
        ([("w0", (3, 2))], 3),
        ([("w0", (1, 5)), ("w1", (3, 5))], 4),
    ],
)
def test_no_two_events_have_one_number_of_the_lock_nor_does_it_go_back(
    tmp_path: Path, locks: list[tuple[str, tuple[int, int]]], line: int
) -> None:
    found = judged(tmp_path, locked(*locks))
    assert found.unexplained is not None
    assert (found.unexplained.line, found.unexplained.clause) == (line, "EV-07")


@pytest.mark.clause("EV-07")
def test_a_process_takes_the_lock_at_growing_numbers_only(tmp_path: Path) -> None:
    lines = locked(("p0", (4, 5)))
    lines[1]["lock"] = [6, 7]
    found = judged(tmp_path, lines)
    assert found.unexplained is not None
    assert (found.unexplained.line, found.unexplained.clause) == (5, "EV-07")


def test_lanes_know_who_must_come_before_whom(tmp_path: Path) -> None:
    log = read_log(written(tmp_path, locked(("w0", (1, 2)), ("w1", (3, 3)))))
    lanes = Lanes(log.header, log.entries)
    assert lanes.names == ("p0", "w0", "w1")
    assert lanes.lagging(Place(2, 0), (0, 0, 0)) == Place(1, 0)
    assert lanes.lagging(Place(2, 0), (0, 1, 0)) is None


def ended(*did: Line) -> list[Line]:
    """A log without protections in which a handle is outdated by a clear before two workers read it."""
    lines = locked()
    lines[0]["protections"] = []
    lines[2:4] = [
        {**line, "saw": {"result": "raised", "error": "ValueError", "says": "modified or is invalid"}}
        for line in lines[2:4]
    ]
    return [*lines, *did]


@pytest.mark.clause("EV-06")
def test_two_workers_may_end_of_the_same_before_they_hear_of_each_other(tmp_path: Path) -> None:
    assert_is_a_behaviour(tmp_path, ended())
    assert judged(tmp_path, ended()).status == "conforms"
    assert is_explained(read_log(written(tmp_path, ended())))
    served = ended()
    served[3]["saw"] = [{"nbytes": 2, "fill": 99}]
    assert judged(tmp_path, served).status == "violates"


@pytest.mark.clause("EV-06")
def test_what_ends_the_engine_with_more_to_come_is_named(tmp_path: Path) -> None:
    request = [{"key": "d", "nbytes": 1, "fill": 100}]
    later = {"event": "request", "process": "p0", "number": 2, "did": "submit", "request": request, "made": 1}
    saw = [{"result": "carried", "how": "handle", "content": {"nbytes": 1, "fill": 100}}]
    reads = [
        {"event": "message", "process": "w0", "number": 1, "did": "read", "message": 1, "keys": ["d"],
         "saw": [{"nbytes": 1, "fill": 100}]}
    ]  # fmt: skip
    found = judged(tmp_path, ended({**later, "saw": saw}, *reads))
    assert found.status == "violates"
    assert found.unexplained is not None
    assert (found.unexplained.line, found.unexplained.clause) == (3, "EV-06")
    assert "the engine ends here" in found.unexplained.says
