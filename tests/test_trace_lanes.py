"""`trace show`: lanes that a newcomer can read; and files that are no logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tampering import copied, written
from test_event_logs import PAIR, SHARED
from typer.testing import CliRunner

from mmcache_ref.cli import app

pytestmark = pytest.mark.timeout(300)


def shown(log: Path, columns: int = 100) -> tuple[int, list[str]]:
    """Exit code and lines of what is printed in a terminal of that width."""
    result = CliRunner().invoke(app, ["trace", "show", str(log)], env={"COLUMNS": str(columns)})
    return result.exit_code, [line.rstrip() for line in result.stdout.splitlines()]


def checked(log: Path) -> tuple[int, str]:
    """Exit code and everything that is printed."""
    result = CliRunner().invoke(app, ["trace", "check", str(log)], env={"COLUMNS": "200"})
    return result.exit_code, result.output


@pytest.mark.clause("EV-06")
def test_the_lanes_of_a_pair_say_what_was_sent_and_what_each_side_holds(tmp_path: Path) -> None:
    code, lines = shown(written(tmp_path, PAIR))
    assert code == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[1:12]}
    assert lines[0].split() == ["line", "P0", "channel", "P1", "state", "after"]
    assert rows["2"] == "submit +a → #0 P0 a | P1 –"
    assert rows["3"] == "deliver #0 P0 a | P1 a"
    assert rows["4"] == "submit a → #1", "a state that is as before is left out"
    assert rows["5"] == "submit b? refused"
    assert rows["9"] == "deliver #2 missed a"
    assert rows["11"] == "retry #2 → #3 P0 a | P1 –"
    assert lines[2].index("deliver") == lines[0].index("P1")
    assert any(line.startswith("+a: sent with its data") for line in lines)


@pytest.mark.clause("EV-06")
def test_the_lanes_of_shared_memory_say_where_chunks_lie_and_how_many_reads_have_come(tmp_path: Path) -> None:
    code, lines = shown(written(tmp_path, SHARED))
    assert code == 0
    rows = [" ".join(line.split()) for line in lines[:8]]
    assert rows[:4] == [
        "line P0 channel W0 W1 state after",
        "2 submit +c → #7 c@0:0/2",
        "3 read #7 c@0:1/2",
        "4 read #7 c@0:2/2",
    ]
    assert any(row.startswith("7 forge d raised ValueError") or row == "6 finish #7" for row in rows)
    assert lines[2].index("read") == lines[0].index("W0")
    assert lines[3].index("read") == lines[0].index("W1")


@pytest.mark.parametrize(("lines", "columns"), [(PAIR, 80), (PAIR, 100), (SHARED, 80), (SHARED, 100)])
def test_lanes_fit_into_the_terminal_with_an_event_on_a_line(
    tmp_path: Path, lines: list[dict[str, Any]], columns: int
) -> None:
    _, told = shown(written(tmp_path, lines), columns)
    assert max(map(len, told)) <= columns
    assert all(line.split()[0].isdigit() for line in told[1 : len(lines)])


def test_long_keys_are_shortened_and_no_key_reaches_the_terminal_raw(tmp_path: Path) -> None:
    digest = "0123456789abcdef" * 4
    renamed = json.loads(json.dumps(PAIR[:3]).replace('"a"', json.dumps(digest)))
    _, lines = shown(written(tmp_path, renamed), 80)
    assert "submit +01234…cdef → #0" in lines[1]
    renamed = json.loads(json.dumps(PAIR[:3]).replace('"a"', '"\\u001b[31m[b]"'))
    _, lines = shown(written(tmp_path, renamed), 80)
    assert "\x1b" not in "".join(lines)
    assert "\\x1b[31m[b]" in lines[1]


@pytest.mark.clause("EV-06")
def test_the_event_that_nothing_explains_stands_last_in_its_lane(tmp_path: Path) -> None:
    tampered = copied(PAIR)
    tampered[5]["holds"] = ["b"]
    code, lines = shown(written(tmp_path, tampered))
    assert code == 2
    (row,) = [line for line in lines if "not explained" in line]
    assert row.split()[:3] == ["6", "deliver", "#1"]
    assert row.index("deliver") == lines[0].index("P1")
    assert any(line.startswith("KR-") and "line 6" in line for line in lines)


def as_text(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


GOOD = as_text(PAIR)
HEADER = as_text(PAIR[:1])
NO_LOGS = {
    "empty": (b"", "line 1 is no header of an event log: the file is empty"),
    "no header": (as_text(PAIR[1:]).encode(), "line 1 is no header of an event log, but an event"),
    "binary": (bytes(range(256)), "line 1 is no header of an event log: JSON is malformed"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), "UTF-8 without one"),
    "utf-16": (GOOD.encode("utf-16"), "UTF-8 without one"),
    "unknown field of the header": (
        as_text([{**PAIR[0], "colour": "red"}]).encode(),
        "unknown field `colour`",
    ),
    "unknown protection": (
        as_text([{**PAIR[0], "protections": ["warp"]}]).encode(),
        "unknown protection: warp",
    ),
    "one long line": (b"z" * 5_000_000, "line 1 is no header of an event log: JSON is malformed"),
}
BAD_LINES = {
    "cut last line": (GOOD[:-20], 12, "its JSON ends in the middle"),
    "empty line": (HEADER + "\n" + as_text(PAIR[1:]), 2, "it is empty"),
    "second header": (GOOD + HEADER, 13, "a second header"),
    "unknown field": (HEADER + as_text([{**PAIR[1], "colour": "red"}]), 2, "unknown field `colour`"),
    "long unknown field": (HEADER + as_text([{**PAIR[1], "x" * 100_000: 1}]), 2, "xxx…"),
    "long value": (HEADER + as_text([{**PAIR[1], "did": "y" * 5_000_000}]), 2, "yyy…"),
    "deep nesting": (HEADER + '{"event":"step","saw":' + "[" * 100_000 + "\n", 2, "nested too deeply"),
}  # fmt: skip


@pytest.mark.clause("EV-01")
@pytest.mark.parametrize(("content", "said"), NO_LOGS.values(), ids=NO_LOGS)
def test_a_file_that_is_no_log_is_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "x.ndjson"
    file.write_bytes(content)
    code, output = checked(file)
    assert code == 4
    assert said in output
    assert len(output) < 1000
    assert shown(file)[0] == 4


@pytest.mark.clause("EV-01")
@pytest.mark.parametrize(("content", "line", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_is_no_event_is_named_with_the_reason(
    tmp_path: Path, content: str, line: int, said: str
) -> None:
    file = tmp_path / "x.ndjson"
    file.write_text(content, encoding="utf-8")
    code, output = checked(file)
    assert code == 2
    assert output.startswith(f"EV-01 line {line}\n")
    assert said in output
    assert len(output) < 1000


@pytest.mark.clause("EV-01")
def test_bytes_that_are_no_utf_8_are_named(tmp_path: Path) -> None:
    file = tmp_path / "x.ndjson"
    file.write_bytes(GOOD.encode().replace(b'"key"', b'"k\xffy"', 1))
    assert checked(file)[0] == 2
    assert "EV-01 line 2" in checked(file)[1]


def test_a_folder_and_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    assert checked(tmp_path) == (4, f"mmcache-ref: {tmp_path}: it cannot be read: Is a directory\n")
    assert checked(tmp_path / "none")[1].endswith("none: it cannot be read: No such file or directory\n")


def test_of_a_log_without_events_it_is_said_that_nothing_was_judged(tmp_path: Path) -> None:
    code, output = checked(written(tmp_path, PAIR[:1]))
    assert code == 3
    assert "nothing was judged" in output


def test_a_request_that_is_sent_itself_says_so(tmp_path: Path) -> None:
    inline = copied(SHARED[:2])
    inline[1]["request"][0]["nbytes"] = 4
    content = {"nbytes": 4, "fill": 3}
    inline[1] |= {"saw": [{"result": "carried", "how": "item", "content": content}], "holds": []}
    _, lines = shown(written(tmp_path, inline))
    assert "submit c=inline → #7" in lines[1]
    assert any(line.startswith("a=inline:") for line in lines)


def test_a_plus_is_for_what_the_segment_did_not_have(tmp_path: Path) -> None:
    again = copied(SHARED[:2])
    again[1]["request"] *= 2
    again[1]["saw"] *= 2
    again.append({**copied(SHARED)[1], "number": 1, "made": 8})
    code, lines = shown(written(tmp_path, again))
    assert code == 0
    assert "submit +c c → #7" in lines[1]
    assert "submit c → #8" in lines[2]


@pytest.mark.parametrize("hashes", [None, 3, [None], [{}], {"a": 1}])
def test_a_miss_in_another_form_is_shown_and_not_explained(tmp_path: Path, hashes: Any) -> None:
    tampered = copied(PAIR)
    tampered[8]["saw"]["hashes"] = hashes
    code, lines = shown(written(tmp_path, tampered))
    assert code == 2
    assert any("not explained" in line and "deliver #2 missed" in line for line in lines)
