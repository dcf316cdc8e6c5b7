"""`mmcache-ref interleave` as a shell sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import TESTS, call

from mmcache_ref.reference import SingleWriterShmObjectStorage

GET_GET = ("interleave", "reference", "--scenario", "get-get", "--preemptions", "1")
BROKEN = "py:racing.counts_outside_the_lock"


def test_0_for_a_target_that_nothing_is_found_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*GET_GET) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("reference conforms (")


def test_2_and_the_lines_in_columns_and_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("interleave", BROKEN, "--scenario", "get-get", "--preemptions", "1") == 2
    out = capsys.readouterr().out
    assert "OS-32 get-get" in out
    assert "(preempted)" in out
    assert "object_chunks.py:" in out
    (repeat,) = [line for line in out.splitlines() if line.startswith("repeat: ")]
    text = repeat.partition("--replay ")[2].strip("'")
    assert json.loads(text)["scenario"] == "get-get"
    assert call("interleave", BROKEN, "--replay", text) == 2
    again = capsys.readouterr().out
    assert [line for line in again.splitlines() if line.startswith("repeat: ")] == [repeat]
    assert call("interleave", "reference", "--replay", text) != 2


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("interleave", BROKEN, "--scenario", "get-get", "--preemptions", "1", "--format", "json") == 2
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "violates"
    assert told["broken"] == ["OS-32"]
    (finding,) = told["scenarios"][0]["findings"]
    assert finding["preemptions"] == 1
    assert finding["schedule"][0]["thread"] != finding["schedule"][1]["thread"]


def test_a_schedule_may_name_a_line_that_touches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code = SingleWriterShmObjectStorage.put.__code__
    line = next(line for _, _, line in code.co_lines() if line and line > code.co_firstlineno)
    blocks = [{"thread": "writer", "until": f"object_store.py:{line}"}, {"thread": "reader-0"}]
    told = {"scenario": "get-put", "schedule": [*blocks, {"thread": "writer"}]}
    assert call("interleave", "reference", "--replay", json.dumps(told)) == 0
    blocks[0]["until"] = "object_store.py:1"
    assert call("interleave", "reference", "--replay", json.dumps(told)) == 3
    assert "block 1 of the schedule: writer does not come to object_store.py:1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [("--scenario", "nothing"), ("--preemptions", "-1")],
)
def test_1_for_what_is_not_asked_rightly(arguments: tuple[str, ...]) -> None:
    assert call("interleave", "reference", *arguments) == 1


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        '{"scenario": "nothing", "schedule": []}',
        '{"scenario": "get-get", "schedule": [{"thread": "nobody"}]}',
        '{"scenario": "protocol-put", "schedule": [{"thread": "writer"}]}',
        '{"scenario": "get-get", "schedule": [{"thread": "reader-0", "until": "somewhere"}]}',
        '{"scenario": "get-get", "schedule": [{"thread": "reader-0", "until": "a.py:1", "visit": 0}]}',
        '{"scenario": "get-get"}',
        "no/such/file",
    ],
)
def test_4_for_a_schedule_that_cannot_be_read(text: str) -> None:
    assert call("interleave", "reference", "--replay", text) == 4


def test_3_when_the_time_ran_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*GET_GET, "--seconds", "0") == 3
    out = capsys.readouterr().out
    assert out.count("The time ran out: of 1 scenarios") == 1
    assert "with 0 preemptions in 0, with 1 preemption in 0" in " ".join(out.split())


def test_3_for_a_target_that_cannot_be_loaded() -> None:
    assert call("interleave", "py:no.such.module") == 3


def test_a_file_may_have_the_schedule_as_a_report_has_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("--scenario", "get-get", "--preemptions", "1", "--format", "json")
    assert call("interleave", BROKEN, *arguments) == 2
    (finding,) = json.loads(capsys.readouterr().out)["scenarios"][0]["findings"]
    path = tmp_path / "finding.json"
    path.write_text(json.dumps(finding))
    assert call("interleave", BROKEN, "--replay", str(path), "--format", "json") == 2
    repeated = json.loads(capsys.readouterr().out)
    assert repeated["scenarios"][0]["findings"] == [finding]


def test_what_is_left_to_the_protocol_is_shown_when_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("interleave", "--scenario", "ring-polled", "--preemptions", "1") == 0
    assert "RB-29 ring-polled" in capsys.readouterr().out
    assert call("interleave", "--scenario", "ring-polled,ring-handed-out", "--preemptions", "1") == 0
    out = capsys.readouterr().out
    assert "(RB-29)" in out
    assert "repeat: " not in out


@pytest.mark.parametrize("width", [80, 200])
def test_lines_of_a_run_can_be_read_on_any_terminal(width: int) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mmcache_ref",
            "interleave",
            BROKEN,
            "--scenario",
            "get-get",
            "--preemptions",
            "1",
        ],
        env={**os.environ, "PYTHONPATH": str(TESTS), "COLUMNS": str(width)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    first, second = sorted(
        line.index("object_chunks.py:") for line in lines if "COUNT.pack_into(data_view, 0, " in line
    )
    assert first == 4
    assert (second - first == 12) if width == 80 else (second - first > 40)
