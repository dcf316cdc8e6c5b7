"""The benchmark: what it measures and what it says; how long anything takes is not asserted."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle.bench import COPIES, LRU_CASES, STORE_CASES, Bench, Measure, measure, size_in_words
from mmcache_ref.oracle.bench_demands import demands
from mmcache_ref.oracle.bench_worker import StoreBench, must_hold
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.report.bench import bench_json, bench_text

KIB, MIB = 2**10, 2**20


def bench_of(*measures: Measure, lost: dict[str, str] | None = None) -> Bench:
    return Bench(("ours", "theirs"), 3, "wall", measures, lost or {})


@pytest.mark.usefixtures("no_segment_is_left")
def test_every_case_is_measured_in_every_round_and_nothing_is_left() -> None:
    told: list[str] = []
    found = measure(["reference", "py:no_such_module"], [1000, 3 * MIB], 2, told.append)
    cases = [*((f"LRU {case}", None) for case in LRU_CASES)]
    cases += [(case, size) for size in (1000, 3 * MIB) for case in STORE_CASES]
    assert [(each.case, each.size) for each in found.measures] == cases
    for each in found.measures:
        names = {"reference"} if each.size is None else {"reference", COPIES}
        assert each.seconds.keys() == names
        assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in each.seconds.values())
    put, get, both = found.measures[-3:]
    assert both.seconds[COPIES][0] == pytest.approx(put.seconds[COPIES][0] + get.seconds[COPIES][0])
    assert list(found.lost) == ["py:no_such_module"]
    assert "objects of 3 MiB" in told


def test_where_no_target_can_be_loaded_the_reason_is_told() -> None:
    with pytest.raises(TargetUnavailable, match="No module named 'no_such_module'"):
        measure(["py:no_such_module"], [1000], 2)


def test_a_ratio_is_taken_round_by_round() -> None:
    """Of 1/2, 3/1 and 4/4 the median is 1; the medians themselves are 3 and 2."""
    each = Measure("put+get", KIB, {"ours": (1.0, 3.0, 4.0), "theirs": (2.0, 1.0, 4.0)})
    assert each.median("ours") == 3.0
    assert each.ratio("ours", "theirs") == 1.0
    assert each.median("nobody") is None
    assert each.ratio("ours", "nobody") is None


def test_what_is_on_top_of_the_copies() -> None:
    """(4 - 2) / (6 - 2), (3 - 1) / (2 - 1); in the third round nothing is on top, and it does not count."""
    each = Measure(
        "put+get", KIB, {"ours": (4.0, 3.0, 9.0), "theirs": (6.0, 2.0, 5.0), COPIES: (2.0, 1.0, 5.0)}
    )
    assert each.ratio("ours", "theirs", on_top_of=COPIES) == 1.25
    assert each.ratio("ours", "theirs", on_top_of="nobody") is None


def test_what_is_demanded_of_which_size() -> None:
    times = {"ours": (0.6,), "theirs": (1.0,), COPIES: (0.5,)}
    sizes = (KIB, 64 * KIB, MIB, 64 * MIB)
    found = demands(
        bench_of(Measure("LRU hit", None, times), *(Measure("put+get", each, times) for each in sizes))
    )
    assert [(each.size, each.other, each.limit, round(each.found, 9), each.on_top) for each in found] == [
        (None, "theirs", 1.0, 0.6, False),
        (KIB, "theirs", 0.5, 0.6, False),
        (64 * KIB, "theirs", 1.0, 0.6, False),
        (64 * KIB, "theirs", 0.65, 0.2, True),
        (MIB, "theirs", 1.0, 0.6, False),
        (MIB, COPIES, 1.3, 1.2, False),
        (64 * MIB, "theirs", 1.0, 0.6, False),
        (64 * MIB, COPIES, 1.3, 1.2, False),
    ]
    assert [each.is_kept for each in found] == [True, False, True, True, True, True, True, True]
    assert demands(bench_of(Measure("put", KIB, times))) == ()


@pytest.mark.parametrize("width", [80, 60])
def test_no_figure_loses_its_unit_in_a_narrow_terminal(width: int) -> None:
    times = {"reference": (3.5e-6,), "vllm@0.32.0": (2.25e-5,), COPIES: (1.28e-1,)}
    measures = (Measure("LRU miss with eviction", None, times), Measure("put+get", 512 * MIB, times))
    console = Console(width=width, record=True)
    console.print(bench_text(Bench(("reference", "vllm@0.32.0"), 1, "wall", measures, {})))
    said = console.export_text()
    assert "…" not in said
    assert said.count("µs") == 4
    assert said.count("128") == said.count("ms") == 2


def test_the_table_and_the_json_tell_the_same() -> None:
    times = {"ours": (0.6,), "theirs": (1.0,), COPIES: (2e-6,)}
    bench = bench_of(
        Measure("put+get", KIB, times), Measure("put", 3, {"ours": (5e-9,)}), lost={"gone": "why"}
    )
    console = Console(width=120, record=True)
    console.print(bench_text(bench))
    said = console.export_text()
    rows = [line.split() for line in said.splitlines()]
    assert ["put+get", "1", "KiB", "600", "ms", "1", "s", "2", "µs", "0.60", "300000.00"] in rows
    assert ["put", "3", "B", "5", "ns", "–", "–", "–", "–"] in rows
    assert "missed  put+get of 1 KiB: 0.60 × theirs, demanded at most 0.5" in said
    of_some = {"ours": (0.6,), "theirs": (1.0,), COPIES: (0.5,)}
    console.print(bench_text(bench_of(Measure("put+get", 8 * KIB, of_some))))
    assert (
        "kept    put+get of 8 KiB, on top of memcpy: 0.20 × theirs, demanded at most 0.65"
        in console.export_text()
    )
    assert "gone was not measured: why" in said
    assert "0 of 1 demands kept" in said
    told = json.loads(bench_json(bench))
    assert told["measures"][0]["seconds"] == {"ours": [0.6], "theirs": [1.0], COPIES: [2e-06]}
    assert [(each["found"], each["is_kept"]) for each in told["demands"]] == [(0.6, False)]


def test_a_wrong_payload_is_no_result() -> None:
    must_hold([1, 1, 1], 1)
    with pytest.raises(AssertionError, match="where 1 was put"):
        must_hold([1, 0, 1], 1)


@pytest.mark.parametrize("case", LRU_CASES)
def test_the_lru_is_full_before_and_after(case: str) -> None:
    assert StoreBench(None, "reference", "processor", 1).lru(case, 10) > 0


def test_sizes_in_words() -> None:
    assert [size_in_words(each) for each in (1, 1000, 1536, 2048, 64 * MIB)] == [
        "1 B",
        "1000 B",
        "1536 B",
        "2 KiB",
        "64 MiB",
    ]


def test_the_command() -> None:
    done = CliRunner().invoke(
        app,
        [
            "bench",
            "reference",
            "--sizes",
            "1KiB,2B",
            "--rounds",
            "1",
            "--threads",
            "1",
            "--clock",
            "processor",
            "--format",
            "json",
        ],
    )
    told = json.loads(done.stdout)
    assert (done.exit_code, told["rounds"], told["demands"]) == (0, 1, [])
    assert {each["size"] for each in told["measures"]} == {None, 1024, 2}
    assert CliRunner().invoke(app, ["bench", "--sizes", "much"]).exit_code == 1
    assert "no such target" in CliRunner().invoke(app, ["bench", "nonsense"]).output
