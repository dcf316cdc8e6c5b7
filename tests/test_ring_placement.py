"""Placement in the ring: CrossHair confirms the contracts for all integers; small rings are tried by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mmcache_ref.reference import ring_placement
from mmcache_ref.reference.ring_placement import NO_ROOM, free_up_to, gap, is_chunk, next_id, place, position

SOURCE = Path(ring_placement.__file__)
POSTCONDITIONS = len(re.findall(r"^ +post: ", SOURCE.read_text(encoding="utf-8"), re.MULTILINE))


MISTAKES = {
    "no_exact_fit": ("return 0 if size <= left else left", "return 0 if size < left else left"),
    "one_byte_lost": ("address + size <= begin + capacity", "address + size < begin + capacity"),
    "over_the_oldest": ("address + size <= begin + capacity", "address + size <= end + capacity"),
    "stale_address": ("    if oldest >= end:\n        oldest -= capacity\n", ""),
    "end_stays": ("else (oldest - capacity, end - capacity)", "else (oldest - capacity, end)"),
    "id_too_large": ("if identifier + 1 < id_max else 0", "if identifier < id_max else 0"),
    "past_the_area": ("HEADER_BYTES < size <= capacity - place_in_area", "HEADER_BYTES < size <= capacity"),
}
"""What each mistake replaces, by what."""


def confirm(*paths: Path) -> list[tuple[str, str]]:
    """What CrossHair says about the postconditions of files: the file's name, the verdict."""
    options = ["--analysis_kind=PEP316", "--report_all", "--per_condition_timeout=40"]
    command = [sys.executable, "-m", "crosshair", "check", *options, *map(str, paths)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.partition(": ") for line in (checked.stdout + checked.stderr).splitlines()]
    return [(Path(where.partition(":")[0]).stem, verdict) for where, _, verdict in lines]


@pytest.mark.clause("RB-05", "RB-06", "RB-09", "RB-10", "RB-15", "RB-20", "RB-22", "RB-23")
def test_every_contract_is_confirmed_over_all_paths() -> None:
    assert POSTCONDITIONS >= 15
    verdicts = [verdict for _, verdict in confirm(SOURCE)]
    assert verdicts == ["info: Confirmed over all paths."] * POSTCONDITIONS


def test_every_mistake_in_placement_is_refuted(tmp_path: Path) -> None:
    text = SOURCE.read_text(encoding="utf-8")
    for name, (right, wrong) in MISTAKES.items():
        assert text.count(right) == 1, name
        (tmp_path / f"{name}.py").write_text(text.replace(right, wrong), encoding="utf-8")
    refuted = {name for name, verdict in confirm(*tmp_path.iterdir()) if verdict.startswith("error: ")}
    assert refuted == MISTAKES.keys()


@pytest.mark.clause("RB-05")
@pytest.mark.parametrize(
    ("end", "size", "unused"),
    [(0, 100, 0), (90, 10, 0), (90, 11, 10), (99, 2, 1), (100, 100, 0), (150, 51, 50), (190, 10, 0)],
)
def test_a_chunk_that_would_straddle_begins_at_the_next_multiple(end: int, size: int, unused: int) -> None:
    assert gap(end, size, capacity=100) == unused


@pytest.mark.clause("RB-06")
@pytest.mark.parametrize(
    ("begin", "end", "size", "address"),
    [
        (0, 0, 100, 0),
        (0, 0, 101, NO_ROOM),
        (0, 90, 10, 90),
        (0, 90, 11, NO_ROOM),
        (30, 90, 11, 100),
        (30, 90, 30, 100),
        (30, 90, 31, NO_ROOM),
        (30, 130, 1, NO_ROOM),
        (90, 130, 60, 130),
        (90, 130, 61, NO_ROOM),
    ],
)
def test_a_chunk_goes_behind_end_and_at_most_a_capacity_behind_begin(
    begin: int, end: int, size: int, address: int
) -> None:
    assert place(begin, end, size, capacity=100) == address


@pytest.mark.clause("RB-09")
def test_a_chunk_that_its_header_cannot_describe_is_refused() -> None:
    assert place(0, 0, 2**31 - 1, capacity=2**33) == 0
    assert place(0, 0, 2**31, capacity=2**33) == NO_ROOM


@pytest.mark.clause("RB-20")
@pytest.mark.parametrize(
    ("begin", "end", "oldest", "moved"),
    [
        (0, 90, 30, (30, 90)),
        (60, 130, 100, (0, 30)),
        (60, 150, 120, (20, 50)),
        (0, 90, 130, (30, 90)),
        (90, 180, 120, (20, 80)),
    ],
)
def test_begin_moves_to_the_oldest_live_chunk_and_stays_below_the_capacity(
    begin: int, end: int, oldest: int, moved: tuple[int, int]
) -> None:
    assert free_up_to(begin, end, oldest, capacity=100) == moved


@pytest.mark.clause("RB-05", "RB-10", "RB-15")
def test_positions_ids_and_headers_at_their_edges() -> None:
    assert (position(99, 100), position(100, 100), position(199, 100)) == (99, 0, 99)
    assert [next_id(identifier, 3) for identifier in range(3)] == [1, 2, 0]
    assert [is_chunk(90, size, 100) for size in (8, 9, 10, 11)] == [False, True, True, False]
