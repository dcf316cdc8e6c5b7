"""What operations cost with many keys: work is counted in lines of Python, never in seconds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle.growth import Cost, Growth, lines_of, measure_cache
from mmcache_ref.oracle.growth_subjects import SUBJECTS
from mmcache_ref.report.growth import growth_json, growth_text

FEW, MANY = 50, 1000

GROWING = {
    ("LRU", "put with an eviction, the older half pinned"),
    ("shared memory", "remove_dangling_items"),
    ("shared memory", "clear_cache"),
}
"""What the README says of the reference."""


@pytest.mark.usefixtures("no_segment_is_left")
@pytest.mark.parametrize("cache", SUBJECTS)
def test_no_other_operation_of_the_reference_does_more_with_more_keys(cache: str) -> None:
    few, many = (measure_cache("reference", cache, keys) for keys in (FEW, MANY))
    assert [each.operation for each in few] == [each.operation for each in many]
    growing = {(cache, a.operation) for a, b in zip(few, many, strict=True) if a.lines != b.lines}
    assert growing == {each for each in GROWING if each[0] == cache}
    assert all(each.lines > 2 and each.seconds > 0 for each in few)


def test_a_loop_over_the_keys_is_seen() -> None:
    """A line for each of the rounds, one for the last look, and one for the assignment."""

    def loop(number: int) -> None:
        total = 0
        for each in range(number):
            total += each

    assert lines_of(loop, 10) == 22
    assert lines_of(loop, 20) == 42


def growth() -> Growth:
    costs = (
        Cost("LRU", "touch", "ours", 100, 1e-6, 4),
        Cost("LRU", "touch", "ours", 10_000, 2e-6, 4),
        Cost("LRU", "scan[key]", "ours", 100, 1e-6, 4),
        Cost("LRU", "scan[key]", "ours", 10_000, 2e-3, 400),
        Cost("LRU", "touch", "theirs", 100, 3e-6, 5),
    )
    return Growth(("ours", "theirs"), (100, 10_000), costs)


def test_the_table_says_what_grows() -> None:
    console = Console(width=120, record=True)
    console.print(growth_text(growth()))
    said = console.export_text()
    rows = [line.split() for line in said.splitlines()]
    assert ["LRU", "touch", "1", "µs", "2", "µs", "3", "µs", "–"] in rows
    assert ["LRU", "scan[key]", "1", "µs", "2", "ms", "–", "–"] in rows
    assert "ours executes more lines with more keys in LRU: scan[key]" in said
    assert "theirs executes as many lines with many keys as with few, in every operation" in said
    told: Any = json.loads(growth_json(growth()))
    assert told["costs"][3]["lines"] == 400


def test_the_command() -> None:
    done = CliRunner().invoke(app, ["bench", "reference", "--growth", "--keys", "10,20", "--format", "json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["keys"]) == (0, [10, 20])
    assert {each["cache"] for each in told["costs"]} == set(SUBJECTS)
    assert CliRunner().invoke(app, ["bench", "--growth", "--keys", "9"]).exit_code == 1
