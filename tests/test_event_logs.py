"""Event logs: good ones are explained in any order of their processes, tampered ones are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tampering import by_process, copied, judged, simulated, written
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.model.events import is_done_by
from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.oracle.event_log import BadLog, read_log
from mmcache_ref.oracle.simulation import Plan
from mmcache_ref.oracle.trace_step import matches

pytestmark = pytest.mark.timeout(300)

A = {"key": "a", "nbytes": 4, "fill": 1}
A_CONTENT = {"nbytes": 4, "fill": 1}
PAIR: list[dict[str, Any]] = [
    {"event": "header", "version": 1, "cache": "lru", "capacity": 12, "protections": ["keep-touched"]},
    {"event": "request", "process": "p0", "number": 0, "did": "submit", "request": [A], "saw": [A_CONTENT],
     "holds": ["a"], "made": 0},
    {"event": "message", "process": "p1", "number": 0, "did": "deliver", "message": 0, "keys": ["a"],
     "saw": [A_CONTENT], "holds": ["a"]},
    {"event": "request", "process": "p0", "number": 1, "did": "submit", "request": [A], "saw": [None],
     "holds": ["a"], "made": 1},
    {"event": "request", "process": "p0", "number": 2, "did": "submit",
     "request": [{"key": "b", "nbytes": 2, "is_supplied": False}],
     "saw": {"result": "refused", "hashes": ["b"]}, "holds": ["a"]},
    {"event": "message", "process": "p1", "number": 1, "did": "deliver", "message": 1, "keys": ["a"],
     "saw": [A_CONTENT], "holds": ["a"]},
    {"event": "step", "process": "p1", "number": 2, "did": "clear-p1", "holds": []},
    {"event": "request", "process": "p0", "number": 3, "did": "submit", "request": [A], "saw": [None],
     "holds": ["a"], "made": 2},
    {"event": "message", "process": "p1", "number": 3, "did": "deliver", "message": 2, "keys": ["a"],
     "saw": {"result": "missed", "hashes": ["a"]}, "holds": []},
    {"event": "message", "process": "p0", "number": 4, "did": "handle-report", "message": 2, "keys": ["a"],
     "holds": []},
    {"event": "message", "process": "p0", "number": 5, "did": "retry", "message": 2, "keys": ["a"],
     "saw": [A_CONTENT], "holds": ["a"], "made": 3},
    {"event": "message", "process": "p1", "number": 4, "did": "deliver", "message": 3, "keys": ["a"],
     "saw": [A_CONTENT], "holds": ["a"]},
]  # fmt: skip
"""Written by hand: a miss after a clear of P1 alone, and the retry."""

C = {"key": "c", "nbytes": 2, "fill": 3}
C_CONTENT = {"nbytes": 2, "fill": 3}
CARRIED = {"result": "carried", "how": "handle", "content": C_CONTENT}
SHARED: list[dict[str, Any]] = [
    {"event": "header", "version": 1, "cache": "shm", "capacity": 4, "protections": [], "limit": 3,
     "workers": 2},
    {"event": "request", "process": "p0", "number": 0, "did": "submit", "request": [C], "saw": [CARRIED],
     "holds": ["c"], "made": 7},
    {"event": "message", "process": "w0", "number": 0, "did": "read", "message": 7, "keys": ["c"],
     "saw": [C_CONTENT]},
    {"event": "message", "process": "w1", "number": 0, "did": "read", "message": 7, "keys": ["c"],
     "saw": [C_CONTENT]},
    {"event": "request", "process": "p0", "number": 1, "did": "submit",
     "request": [{"key": "d", "nbytes": 3, "fill": 4}],
     "saw": [{"result": "carried", "how": "handle", "content": {"nbytes": 3, "fill": 4}}], "holds": ["d"],
     "made": 8},
    {"event": "message", "process": "channel", "number": 0, "did": "finish", "message": 7, "keys": ["c"]},
    {"event": "handle", "process": "p0", "number": 2, "did": "forge", "key": "d", "how": "unsigned",
     "saw": {"result": "raised", "error": "ValueError", "says": "SHM handle signature"}, "holds": ["d"]},
]  # fmt: skip
"""Written by hand: what both workers have read makes room for a larger item."""


@pytest.mark.clause("EV-06")
@pytest.mark.parametrize("lines", [PAIR, SHARED], ids=["lru", "shm"])
def test_a_good_log_is_explained_however_its_processes_are_put_together(
    tmp_path: Path, lines: list[dict[str, Any]]
) -> None:
    for each in (lines, by_process(lines)):
        found = judged(tmp_path, each)
        assert (found.status, found.explained) == ("conforms", len(lines) - 1)


@pytest.mark.clause("EV-06")
@pytest.mark.parametrize("cache", ["lru", "shm"])
@pytest.mark.parametrize("accidents", [(), ("all",)])
@pytest.mark.parametrize("protections", [(), ("default",)])
def test_a_simulation_writes_a_good_log(
    tmp_path: Path, cache: str, accidents: tuple[str, ...], protections: tuple[str, ...]
) -> None:
    lines = simulated(tmp_path, Plan(cache, 40, 2, 1, accidents, protections))
    assert judged(tmp_path, lines).status == "conforms"
    assert judged(tmp_path, by_process(lines)).status == "conforms"
    validator = jsonschema.Draft202012Validator(
        json.loads((spec_directory() / "schema" / "events.schema.json").read_text())
    )
    for line in lines:
        validator.validate(line)


TAMPERED = [
    (PAIR, 2, "event", "message", 2, "EV-01"),
    (PAIR, 2, "process", "p1", 2, "EV-03"),
    (PAIR, 3, "process", "w0", 3, "EV-03"),
    (PAIR, 4, "number", 2, 4, "EV-02"),
    (PAIR, 2, "did", "bypass", 2, "DR-17"),
    (PAIR, 7, "did", "finish-clear", 7, "EV-05"),
    (PAIR, 4, "did", "vanish", 4, "EV-01"),
    (PAIR, 2, "request.0.key", "b", 2, "KR-03"),
    (PAIR, 2, "request.0.nbytes", 5, 2, "KR-03"),
    (PAIR, 2, "request.0.fill", 2, 2, "KR-03"),
    (PAIR, 5, "request.0.is_supplied", True, 5, "KR-03"),
    (PAIR, 2, "saw.0", None, 2, "KR-03"),
    (PAIR, 3, "saw.0.fill", 9, 3, "KR-08"),
    (PAIR, 5, "saw.hashes", [], 5, "DR-02"),
    (PAIR, 9, "saw.result", "refused", 9, "IF-16"),
    (PAIR, 10, "holds", ["a"], 10, "KR-06"),
    (PAIR, 4, "made", 0, 4, "EV-04"),
    (PAIR, 4, "made", None, 4, "EV-04"),
    (PAIR, 5, "made", 5, 5, "EV-04"),
    (PAIR, 6, "message", 9, 6, "EV-04"),
    (PAIR, 6, "keys", ["b"], 6, "EV-04"),
    (SHARED, 3, "process", "w2", 3, "EV-03"),
    (SHARED, 3, "saw", [None], 3, "SC-31"),
    (SHARED, 2, "saw.0.how", "item", 2, "SC-28"),
    (SHARED, 2, "saw.0.content.nbytes", 1, 2, "SC-28"),
    (SHARED, 2, "request.0.nbytes", 4, 2, "SC-05"),
    (SHARED, 2, "children", 2, 6, "EV-04"),
    (SHARED, 5, "holds", ["c", "d"], 5, "SC-02"),
    (SHARED, 6, "message", 8, 6, "EV-04"),
    (SHARED, 7, "key", "x", 7, "EV-05"),
    (SHARED, 7, "saw.error", "KeyError", 7, "SC-27"),
    (SHARED, 7, "did", "replay", 7, "SC-43"),
]


@pytest.mark.clause("EV-01", "EV-02", "EV-03", "EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize(("lines", "line", "field", "value", "named", "clause"), TAMPERED)
def test_a_tampered_field_is_named_by_its_line_and_clause(
    tmp_path: Path, lines: list[dict[str, Any]], line: int, field: str, value: Any, named: int, clause: str
) -> None:
    tampered = copied(lines)
    place: Any = tampered[line - 1]
    *path, last = [int(part) if part.isdigit() else part for part in field.split(".")]
    for part in path:
        place = place[part]
    place[last] = value
    found = judged(tmp_path, tampered)
    assert found.status == "violates"
    assert found.unexplained is not None
    assert (found.unexplained.line, found.unexplained.clause) == (named, clause), found.unexplained.says


@pytest.mark.clause("EV-02", "EV-04")
def test_a_line_that_is_lost_or_there_twice_is_missed(tmp_path: Path) -> None:
    for lines in (PAIR, SHARED):
        for place in range(1, len(lines)):
            is_last = all(line["process"] != lines[place]["process"] for line in lines[place + 1 :])
            assert judged(tmp_path, [*lines[: place + 1], *lines[place:]]).status == "violates"
            if not is_last:
                assert judged(tmp_path, [*lines[:place], *lines[place + 1 :]]).status == "violates"


@pytest.mark.clause("EV-06")
def test_room_that_no_order_of_reads_could_have_made_is_not_explained(tmp_path: Path) -> None:
    without_a_read = [line for line in SHARED if line.get("process") != "w1" and line.get("did") != "finish"]
    found = judged(tmp_path, without_a_read)
    assert found.unexplained is not None
    assert (found.unexplained.line, found.unexplained.clause) == (4, "SC-05")


@pytest.mark.clause("EV-06")
def test_a_log_of_a_fault_is_not_explained_and_names_the_clause(tmp_path: Path) -> None:
    found = judged(tmp_path, simulated(tmp_path, Plan("lru", 60, 2, 0, ("reject",)), "fault:D01"))
    assert found.unexplained is not None
    assert found.unexplained.clause == "DR-13"


@pytest.mark.clause("EV-03")
def test_who_does_what() -> None:
    assert is_done_by("read", "w12")
    assert is_done_by("submit", "p0")
    assert not is_done_by("submit", "w0")
    assert not is_done_by("drop", "p1")


def test_an_exception_fixes_its_type_and_what_its_message_says() -> None:
    expected = {"result": "raised", "error": "ValueError", "says": "signature"}
    assert matches(expected, {"result": "raised", "error": "ValueError", "says": "no such signature"})
    assert not matches(expected, {"result": "raised", "error": "ValueError", "says": "no"})
    assert not matches(expected, None)
    assert not matches(True, 1)


@pytest.mark.clause("EV-01")
@pytest.mark.parametrize("lines", [[], PAIR[1:], [{**PAIR[0], "version": 2}]])
def test_what_has_no_header_is_no_log(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    with pytest.raises(BadLog, match="line 1 is no header"):
        read_log(written(tmp_path, lines))


@pytest.mark.clause("EV-01")
@pytest.mark.parametrize(
    ("place", "name", "exit_code"), [(0, "capacity", 4), (1, "number", 2), (1, "nbytes", 2)]
)
def test_a_field_that_is_there_twice_makes_its_line_unreadable(
    tmp_path: Path, place: int, name: str, exit_code: int
) -> None:
    file = written(tmp_path, PAIR)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert f'"{name}":' in lines[place]
    lines[place] = lines[place].replace(f'"{name}":', f'"{name}": 7, "{name}":', 1)
    file.write_text("\n".join(lines), encoding="utf-8")
    ran = CliRunner().invoke(app, ["trace", "check", str(file)])
    assert ran.exit_code == exit_code
    assert f"it has the field `{name}` more than once" in " ".join(ran.output.split())


def test_the_commands_write_show_and_check_a_log(tmp_path: Path) -> None:
    file = tmp_path / "run.ndjson"
    options = ["simulate", "--cache", "shm", "--requests", "5", "--trace", str(file)]
    assert CliRunner().invoke(app, options).exit_code == 0
    shown = CliRunner().invoke(app, ["trace", "show", str(file)])
    assert shown.exit_code == 0
    assert shown.stdout.split()[:6] == ["line", "P0", "channel", "W0", "W1", "state"]
    checked = CliRunner().invoke(app, ["trace", "check", str(file)])
    assert checked.exit_code == 0
    assert "run.ndjson conforms" in checked.stdout
    tampered = copied(PAIR)
    tampered[2]["saw"][0]["nbytes"] = 3
    broken = CliRunner().invoke(app, ["trace", "check", str(written(tmp_path, tampered)), "--format", "json"])
    assert broken.exit_code == 2
    assert json.loads(broken.stdout)["unexplained"]["line"] == 3
    assert CliRunner().invoke(app, ["trace", "check", str(tmp_path / "none")]).exit_code == 4


def test_a_file_that_is_no_log_is_named_and_the_others_are_judged(tmp_path: Path) -> None:
    logs = [tmp_path / name for name in ("newer.ndjson", "good.ndjson", "none.ndjson")]
    newer, good, none = logs
    good.write_bytes(written(tmp_path, PAIR).read_bytes())
    newer.write_bytes(
        good.read_bytes().replace(b'"version":1', b'"version":2').replace(b'"version": 1', b'"version": 2')
    )
    result = CliRunner().invoke(app, ["trace", "check", *map(str, logs)], env={"COLUMNS": "400"})
    assert result.exit_code == 4
    assert f"{newer}: line 1 is no header of an event log: Invalid enum value 2" in result.stderr
    assert f"{none}: it cannot be read: No such file or directory" in result.stderr
    assert "good.ndjson conforms" in result.stdout


def test_lanes_have_no_other_form_than_text(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["trace", "show", str(written(tmp_path, PAIR)), "--format", "json"])
    assert shown.exit_code == 2
    assert "always text" in shown.output


@pytest.mark.clause("EV-06")
def test_of_a_log_without_an_event_nothing_is_claimed(tmp_path: Path) -> None:
    file = written(tmp_path, PAIR[:1])
    assert judged(tmp_path, PAIR[:1]).status == "undetermined"
    checked = CliRunner().invoke(app, ["trace", "check", str(file), "--tlc"])
    assert checked.exit_code == 3
    assert "nothing was judged" in checked.stdout


@pytest.mark.clause("EV-06")
def test_where_not_every_order_was_tried_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tampered = copied(SHARED)
    tampered[4]["holds"] = ["c"]
    assert judged(tmp_path, tampered).status == "violates"
    monkeypatch.setattr("mmcache_ref.oracle.trace_search.MOST", 1)
    found = judged(tmp_path, tampered)
    assert found.status == "undetermined"
    assert "not all" in found.reason
