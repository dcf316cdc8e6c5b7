"""P0 and P1 of a pair that are killed, stopped and cut off: what is lived through, and what is found."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from mmcache_ref import reference
from mmcache_ref.cli import app
from mmcache_ref.oracle.clauses import all_clauses
from mmcache_ref.oracle.mishaps.judge import Judged, Survived, judge
from mmcache_ref.oracle.mishaps.pair_mishaps import PAIR_MISHAPS
from mmcache_ref.oracle.mishaps.rounds import Options
from mmcache_ref.oracle.mishaps.soak import soak
from mmcache_ref.protocol import DEFAULT, Answer, Engine, Message
from mmcache_ref.protocol.processes import PairCourse

pytestmark = pytest.mark.timeout(900)

FAST = ("kill-p1-inside", "kill-p0-inside", "cut-p1")
SMALL = Options(seconds=0, requests=60, cache="lru")


def broken(judged: Judged) -> set[str]:
    return {each.clause for survived in judged.mishaps for each in survived.broken}


@pytest.fixture(scope="module")
def lived() -> Mapping[str, Any]:
    """What the reference lived through, by mishap, after some of each."""
    judged = judge("reference", SMALL, only=FAST)
    assert judged.reason == ""
    assert judged.lost == 2 * len(FAST)
    assert judged.requests >= len(FAST) * SMALL.requests / 2
    return {each.mishap: each for each in judged.mishaps}


@pytest.mark.clause("DR-02", "DR-10", "DR-15", "DR-25", "DR-26", "DR-30", "DR-32", "DR-33")
@pytest.mark.parametrize("name", FAST)
def test_the_reference_lives_through(lived: Mapping[str, Any], name: str) -> None:
    assert lived[name].rounds == 1
    assert lived[name].broken == ()
    assert lived[name].clause == PAIR_MISHAPS[name].clause


def test_nothing_is_left_when_all_is_over(lived: Mapping[str, Any]) -> None:
    assert "the end of all processes" not in lived
    assert not [each for each in multiprocessing.active_children() if each.name.startswith("Spawn")]


@pytest.mark.slow
@pytest.mark.clause("DR-32", "DR-33")
def test_the_reference_lives_through_every_mishap() -> None:
    judged = judge("reference", Options(cache="lru", seconds=0, seed=100))
    assert (judged.status, judged.reason) == ("conforms", "")
    assert [each.rounds for each in judged.mishaps] == [1] * len(PAIR_MISHAPS)


@pytest.mark.slow
@pytest.mark.clause("DR-32", "DR-33")
def test_a_soak_of_a_pair_stays_as_it_is() -> None:
    soaked = soak("reference", msgspec.structs.replace(SMALL, seed=5), 0.05, every=0.5)
    assert (soaked.status, soaked.broken, soaked.reason) == ("conforms", (), "")
    assert [each.part for each in soaked.told[-1].usage] == ["p0", "p1", "oracle"]
    assert soaked.told[-1].segment == 0


# What must be found


@pytest.mark.slow
@pytest.mark.clause("DR-15", "DR-25")
def test_a_p1_that_starts_empty_and_p0_that_is_not_told_are_found() -> None:
    options = msgspec.structs.replace(SMALL, protections=tuple(DEFAULT - {"epoch"}))
    assert "DR-25" in broken(judge("reference", options, only=("kill-p1",)))


@pytest.mark.slow
@pytest.mark.clause("DR-26")
def test_retries_that_rely_on_what_is_lost_are_found() -> None:
    options = msgspec.structs.replace(SMALL, protections=tuple(DEFAULT - {"resend-all", "epoch"}))
    seeds = (msgspec.structs.replace(options, seed=seed) for seed in range(5))
    judged = (judge("fault:D05", each, only=("kill-p1",)) for each in seeds)
    assert any("DR-26" in broken(each) for each in judged)


@pytest.mark.clause("DR-30", "DR-32")
def test_a_request_that_goes_down_with_p1_and_is_not_sent_again_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PairCourse, "_note_lost", lambda course, requests: None)
    judged = judge("reference", SMALL, only=("kill-p1-after",))
    assert broken(judged) == {"DR-32"}
    assert "ended with neither their items nor a miss" in judged.mishaps[0].broken[0].says


@pytest.mark.slow
@pytest.mark.clause("DR-32")
def test_a_request_that_is_served_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    note = PairCourse._note_lost
    monkeypatch.setattr(PairCourse, "_note_lost", lambda course, lost: note(course, [*lost, *lost]))
    judged = judge("reference", SMALL, only=("kill-p1-after",))
    assert any("answered again" in each.says for each in judged.mishaps[0].broken)


@pytest.mark.slow
@pytest.mark.clause("DR-10")
def test_an_item_that_was_not_asked_for_is_found() -> None:
    judged = judge("py:test_pair_mishaps:serves_the_first_item_twice", SMALL, only=("stop-p1",))
    assert "DR-10" in broken(judged)


@pytest.mark.slow
@pytest.mark.clause("DR-33")
def test_a_process_that_does_not_answer_in_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcache_ref.oracle.mishaps.mishaps.STOPPED_SECONDS", 3600.0)
    options = msgspec.structs.replace(SMALL, answer_seconds=2)
    judged = judge("reference", options, only=("stop-p1",))
    assert broken(judged) == {"DR-33"}
    assert "has not answered for 2 s" in judged.mishaps[0].broken[0].says


class FirstItemTwice(Engine):
    """Serves the first item of a message in place of all others."""

    def look_up(self, message: Message) -> Answer:
        answer = super().look_up(message)
        if answer.items is None:
            return answer
        return Answer((answer.items[0],) * len(answer.items))


def serves_the_first_item_twice() -> Any:
    return SimpleNamespace(**vars(reference), Engine=FirstItemTwice)


def test_every_mishap_is_blamed_on_a_clause() -> None:
    assert {each.clause for each in PAIR_MISHAPS.values()} <= all_clauses().keys()


# The command


def judged_without_processes(monkeypatch: pytest.MonkeyPatch, offered: set[str]) -> list[Any]:
    """Judgements without processes, of a target that offers these caches; what was judged."""
    seen: list[Any] = []

    def judgement(target: str, options: Options, *_: object, only: tuple[str, ...] | None) -> Judged:
        seen.append((options.cache, only))
        if options.cache not in offered:
            return Judged(target, options, "undetermined", reason="no such caches", is_offered=False)
        return Judged(target, options, "conforms", (Survived("kill-p1", "DR-32", 1),))

    monkeypatch.setattr("mmcache_ref.cli.mishaps.judge", judgement)
    return seen


@pytest.mark.parametrize(
    ("words", "offered", "judged", "code"),
    [
        ([], {"lru", "shm"}, [("lru", None), ("shm", None)], 0),
        ([], {"lru"}, [("lru", None), ("shm", None)], 0),
        ([], set[str](), [("lru", None), ("shm", None)], 3),
        (["--cache", "lru"], {"lru"}, [("lru", None)], 0),
        (["--cache", "shm"], {"lru"}, [("shm", None)], 3),
        (["--mishap", "kill-p0"], {"lru", "shm"}, [("lru", ("kill-p0",))], 0),
        (["--mishap", "kill-p1"], {"lru", "shm"}, [("lru", ("kill-p1",)), ("shm", ("kill-p1",))], 0),
        (["--mishap", "kill-p0", "--cache", "shm"], {"lru", "shm"}, [], 2),
    ],
)
def test_the_command_judges_the_caches_that_are_chosen_and_offered(
    words: list[str], offered: set[str], judged: list[Any], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = judged_without_processes(monkeypatch, offered)
    result = CliRunner().invoke(app, ["conform", "reference", "--processes", *words])
    assert (seen, result.exit_code) == (judged, code)
