"""The protocol under load: what is asked for and served; how long it takes is not asserted."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle import load
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.load import Load, LoadBench, Setting, measure_load, seconds_on_processor
from mmcache_ref.protocol.processes import Failed, ProcessLost
from mmcache_ref.report.load import load_json, load_text

pytestmark = pytest.mark.timeout(300)

MANY_HITS = Setting("shm", 2, 90, 1000)


@pytest.mark.usefixtures("no_segment_is_left")
@pytest.mark.parametrize(
    ("setting", "least", "most"),
    [
        (Setting("shm", 1, 90, 1000), 0.8, 0.99),
        pytest.param(Setting("lru", 1, 0, 1000), 0, 0, marks=pytest.mark.slow),
        pytest.param(Setting("shm", 2, 50, 1000), 0.3, 0.7, marks=pytest.mark.slow),
    ],
)
def test_a_setting_is_put_under_load_and_hits_as_often_as_it_says(
    setting: Setting, least: float, most: float
) -> None:
    told: list[str] = []
    found = measure_load(["reference"], 1, [setting], told.append, clock="processor")
    (measured,) = found.loads
    assert told == [f"{setting.cache}, {setting.workers} × 1000 B, {setting.hit_percent} % hits"]
    assert measured.setting == setting
    assert len(measured.seconds["reference"]) == 1
    assert measured.seconds["reference"][0] > 0
    assert least <= measured.hit_rates["reference"] <= most


def test_requests_are_the_same_for_every_target(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, list[str]] = {}

    class Recorded(load.Driven):
        def __init__(self, setting: Setting, target: str, *_: Any) -> None:
            self._setting, self._random, self._last = setting, load.Random(0), 0
            asked[target] = [self._request()[0].mm_hash for _ in range(50)]

        def round(self, requests: int) -> float:
            return 1.0

        def hit_rate(self) -> float:
            return 0.5

    monkeypatch.setattr(load, "Driven", Recorded)
    found = measure_load(["reference", "fault:S06"], 1, [MANY_HITS])
    assert asked["reference"] == asked["fault:S06"]
    assert 1 < len(set(asked["reference"])) < 20
    assert found.loads[0].seconds == dict.fromkeys(asked, (1 / load.BATCH,))


def test_a_request_that_is_not_served_ends_it() -> None:
    with pytest.raises(TargetUnavailable, match="not served"):
        load._is_served(Failed("w0", ValueError("stale")))
    assert not load._is_served(object())


def test_seconds_on_a_processor_go_on() -> None:
    before = seconds_on_processor(os.getpid())
    while seconds_on_processor(os.getpid()) == before:
        pass
    assert seconds_on_processor(os.getpid()) > before > 0


def bench() -> LoadBench:
    """1 / 0.001 s; 1,000 requests of 1 MiB to two workers; 2 / 4 and 1 / 4 have the median 0.375."""
    seconds = {"ours": (0.001, 0.001), "theirs": (0.002, 0.004)}
    rates = {"ours": 0.5, "theirs": 0.5}
    return LoadBench(("ours", "theirs"), 2, "wall", (Load(Setting("shm", 2, 50, 2**20), seconds, rates),))


def test_the_table_and_the_json() -> None:
    console = Console(width=130, record=True)
    console.print(load_text(bench()))
    rows = [line.split() for line in console.export_text().splitlines()]
    assert ["shm", "2", "50%", "1", "MiB", "1,000", "2,000.0", "333", "666.7", "0.38"] in rows
    assert json.loads(load_json(bench()))["loads"][0]["seconds"]["theirs"] == [0.002, 0.004]


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def measured(*arguments: Any, **named: Any) -> LoadBench:
        asked.append((arguments, named["clock"]))
        return bench()

    monkeypatch.setattr("mmcache_ref.cli.bench.measure_load", measured)
    command = [
        "bench",
        "reference",
        "--processes",
        "--rounds",
        "3",
        "--clock",
        "processor",
        "--format",
        "json",
    ]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, asked) == (0, [((["reference"], 3), "processor")])
    assert json.loads(done.stdout)["targets"] == ["ours", "theirs"]


def test_a_process_that_is_lost_leaves_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any, **__: Any) -> LoadBench:
        raise ProcessLost("w0", "ended with exit code -9")

    monkeypatch.setattr("mmcache_ref.cli.bench.measure_load", lost)
    done = CliRunner().invoke(app, ["bench", "reference", "--processes"])
    assert done.exit_code == 3
    assert "w0: ended with exit code -9" in done.output
