"""Minutes in seconds: a soak tells how things stand, and finds what grows."""

from __future__ import annotations

import json
import os
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle.known_process import Known, began
from mmcache_ref.oracle.mishaps.judge import ROUNDS
from mmcache_ref.oracle.mishaps.leftovers import descriptors, resident_bytes
from mmcache_ref.oracle.mishaps.rounds import Options
from mmcache_ref.oracle.mishaps.soak import MIB, Minute, Soaked, Usage, Watch, soak

pytestmark = pytest.mark.timeout(900)


@pytest.mark.clause("SC-47", "SC-52")
def test_the_reference_stays_as_it_is() -> None:
    told: list[Minute] = []
    soaked = soak("reference", Options(requests=30, seed=5), 0.05, told.append, every=0.5)
    assert (soaked.status, soaked.broken, soaked.reason) == ("conforms", (), "")
    assert told == list(soaked.told)
    assert sum(soaked.mishaps.values()) == told[-1].mishaps >= 1
    last = told[-1]
    assert [each.part for each in last.usage] == ["p0", "w0", "w1", "oracle"]
    assert all(each.resident > MIB and each.descriptors > 3 for each in last.usage)
    assert last.requests >= 30 * last.mishaps
    assert last.segment >= 24 * 4096


def test_what_was_found_ends_a_soak() -> None:
    soaked = soak("reference", Options(requests=30), 10, ceiling_mib=1, every=0.1)
    assert soaked.status == "violates"
    assert "MiB in use" in soaked.broken[0].says
    assert soaked.exit_code == 2


def usage(resident: int, files: int, process: int = 1) -> tuple[Usage, ...]:
    return (Usage("w0", process, resident * MIB, files),)


@pytest.mark.clause("SC-52")
@pytest.mark.parametrize(
    ("later", "says"),
    [
        (usage(40, 12), None),
        (usage(100, 14), None),
        (usage(105, 12), "w0 has grown from 40 to 105 MiB"),
        (usage(40, 17), "w0 has 17 descriptors open, 12 at first"),
        (usage(105, 17, process=2), None),
        (usage(2000, 12, process=2), "w0 has 2000 MiB in use"),
    ],
)
def test_growth_is_of_one_process(later: tuple[Usage, ...], says: str | None) -> None:
    watch = Watch(ceiling_mib=1024)
    assert watch.compare(usage(40, 12), "SC-52") == []
    assert [each.says for each in watch.compare(later, "SC-52")] == ([says] if says else [])


@pytest.mark.clause("SC-52")
def test_an_id_that_was_given_again_is_another_process() -> None:
    ours, since = os.getpid(), began(os.getpid())
    assert since is not None
    rounds = ROUNDS["shm"]("reference", Options())
    rounds._seen = {Known(ours, since - 1)}
    assert rounds.left_behind() == []
    rounds._seen = {Known(ours, since)}
    assert [each.says for each in rounds.left_behind()] == [f"the process {ours} is left"]
    watch = Watch(ceiling_mib=1024)
    (before,) = usage(40, 12)
    assert watch.compare((before,), "SC-52") == []
    assert watch.compare((msgspec.structs.replace(before, resident=200 * MIB, began=5),), "SC-52") == []


def test_a_process_knows_what_it_has_in_use() -> None:
    before = descriptors()
    pipe = os.pipe()
    assert descriptors() == before + 2
    for end in pipe:
        os.close(end)
    assert MIB < resident_bytes(os.getpid()) < 64 * 1024 * MIB


def test_the_command_tells_lines_and_exits_by_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def soaked(target: str, options: Options, minutes: float, tell: Any, **_: Any) -> Soaked:
        tell(Minute(60.0, 1234, 5, 6, 7, 98_400, (*usage(40, 12), Usage("p0", 2, 37 * MIB, 12)), 0))
        return Soaked(target, options, minutes, "conforms", mishaps={"kill-p1": 5, "kill-reader": 0})

    monkeypatch.setattr("mmcache_ref.cli.mishaps.soak", soaked)
    result = CliRunner().invoke(app, ["soak", "--cache", "shm", "--minutes", "1", "--seed", "3"])
    assert result.exit_code == 0
    assert "1.0 min: 1,234 requests, 5 mishaps, 6 retried, 7 lost; MiB: p0 37, readers 40" in result.output
    assert "mishaps: kill-p1 5\n" in result.output
    assert "repeat: mmcache-ref soak reference --minutes 1 --cache shm --workers 2 --seed 3" in result.output
    as_json = CliRunner().invoke(app, ["soak", "--minutes", "1", "--format", "json"])
    told = json.loads(as_json.output)
    assert told["status"] == "conforms"
    assert [(each["options"]["cache"], each["minutes"]) for each in told["soaks"]] == [
        ("lru", 0.5),
        ("shm", 0.5),
    ]


@pytest.mark.parametrize("words", [["no-such-target"], ["--minutes", "nan"], ["--workers", "9"]])
def test_what_makes_no_sense_is_a_usage_error(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["soak", *words]).exit_code == 2
