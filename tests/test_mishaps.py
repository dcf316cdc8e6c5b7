"""Real processes that are killed, stopped and cut off: what is lived through, and what is found."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from multiprocessing import shared_memory
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.clauses import all_clauses
from mmcache_ref.oracle.known_process import began
from mmcache_ref.oracle.mishaps import damage
from mmcache_ref.oracle.mishaps.judge import Judged, Survived, judge
from mmcache_ref.oracle.mishaps.mishaps import MISHAPS
from mmcache_ref.oracle.mishaps.rounds import Broken, Options
from mmcache_ref.oracle.mishaps.trapped_lock import PLACES, TrappedLock
from mmcache_ref.protocol import SHARED_DEFAULT, RobustLock, SharedDeployment

pytestmark = pytest.mark.timeout(900)

FAST = (
    "kill-with-lock",
    "kill-reader",
    "kill-p1",
    "kill-writer",
    "remove-segment",
    "cut-reader",
    "write-payload",
)
SMALL = Options(seconds=0, requests=30)


def broken(judged: Judged) -> set[str]:
    return {each.clause for survived in judged.mishaps for each in survived.broken}


@pytest.fixture(scope="module")
def lived() -> Mapping[str, Any]:
    """What the reference lived through, by mishap, after some of each."""
    judged = judge("reference", SMALL, only=FAST)
    assert judged.reason == ""
    assert judged.lost >= len(FAST) - 1
    assert judged.requests >= len(FAST) * SMALL.requests
    return {each.mishap: each for each in judged.mishaps}


@pytest.mark.clause("SC-31", "SC-46", "SC-47", "SC-48", "SC-49", "SC-50", "SC-51", "SC-52")
@pytest.mark.parametrize("name", FAST)
def test_the_reference_lives_through(lived: Mapping[str, Any], name: str) -> None:
    assert lived[name].rounds == 1
    assert lived[name].broken == ()
    assert lived[name].clause == MISHAPS[name].clause


def test_nothing_is_left_when_all_is_over(lived: Mapping[str, Any]) -> None:
    assert "the end of all processes" not in lived
    assert not [each for each in multiprocessing.active_children() if each.name.startswith("Spawn")]


@pytest.mark.slow
@pytest.mark.clause("SC-46", "SC-47", "SC-48", "SC-49", "SC-50", "SC-51", "SC-52")
@pytest.mark.parametrize("workers", [1, 3])
def test_the_reference_lives_through_every_mishap(workers: int) -> None:
    judged = judge("reference", Options(workers=workers, seconds=0, seed=100 * workers))
    assert (judged.status, judged.reason) == ("conforms", "")
    assert [each.rounds for each in judged.mishaps] == [1] * len(MISHAPS)


# What must be found


@pytest.mark.slow
@pytest.mark.clause("SC-46")
def test_a_lock_that_stays_taken_is_found() -> None:
    options = Options(seconds=0, requests=30, answer_seconds=2)
    judged = judge(
        "reference", options, only=("kill-with-lock",), lock=multiprocessing.get_context("spawn").Lock
    )
    assert judged.status == "violates"
    assert broken(judged) == {"SC-46"}
    (said,) = judged.mishaps[0].broken
    assert "has not answered for 2 s" in said.says


def test_a_segment_without_a_secret_has_none_to_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of 0.31 has none. Nothing follows for the target, nor for its other mishaps."""
    monkeypatch.setattr(damage, "SECRET_BYTES", 2**30)
    judged = judge("reference", SMALL, only=("write-secret", "stop-reader"))
    assert (judged.status, judged.reason) == ("conforms", "")
    assert [each.rounds for each in judged.mishaps] == [0, 1]
    alone = judge("reference", SMALL, only=("write-secret",))
    assert (alone.status, alone.mishaps[0].rounds) == ("undetermined", 0)
    assert alone.reason == "this target has nothing to which it could happen: write-secret"


@pytest.mark.clause("SC-50")
def test_without_a_checksum_damaged_payloads_are_found() -> None:
    options = Options(seconds=0, requests=30, has_checksum=False)
    seeds = (msgspec.structs.replace(options, seed=seed) for seed in range(5))
    assert any("SC-50" in broken(judge("reference", each, only=("write-payload",))) for each in seeds)


@pytest.mark.slow
@pytest.mark.clause("SC-47")
def test_without_a_clear_what_a_dead_reader_owes_is_found() -> None:
    options = Options(
        seconds=0, requests=30, protections=tuple(SHARED_DEFAULT - {"clear-on-death", "handle-until-done"})
    )
    judged = judge("reference", options, only=("kill-before-lock", "kill-with-lock"))
    assert broken(judged) & {"SC-46", "SC-47"}


@pytest.mark.slow
@pytest.mark.clause("SC-47", "SC-48")
def test_the_requests_that_a_dead_reader_took_with_it_are_missed() -> None:
    judged = judge("fault:S15", SMALL, only=("kill-reader", "kill-p1"))
    assert broken(judged) == {"SC-47", "SC-48"}
    assert all("ended with neither their items nor a miss" in each.broken[0].says for each in judged.mishaps)


@pytest.mark.slow
@pytest.mark.clause("SC-50")
def test_a_damaged_store_that_nobody_clears_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def go_on(deployment: SharedDeployment) -> bool:
        deployment.suspects.clear()
        return False

    monkeypatch.setattr(SharedDeployment, "examine", go_on)
    seeds = (msgspec.structs.replace(SMALL, seed=seed) for seed in range(5))
    assert any(broken(judge("reference", each, only=("write-header",))) == {"SC-50"} for each in seeds)


@pytest.mark.slow
@pytest.mark.clause("SC-31")
def test_an_item_that_was_not_asked_for_is_found() -> None:
    judged = judge("py:broken.shm_receiver_reads_the_handle_last_seen", SMALL, only=("kill-p1",))
    assert "SC-31" in broken(judged)


@pytest.mark.slow
@pytest.mark.clause("SC-32")
def test_a_chunk_that_goes_too_early_is_found() -> None:
    seeds = (Options(seconds=0, seed=seed) for seed in range(5))
    target = "py:broken.shm_receiver_counts_twice"
    assert any(broken(judge(target, each, only=("kill-p1",))) == {"SC-32"} for each in seeds)


@pytest.mark.slow
@pytest.mark.clause("SC-42", "SC-47")
def test_an_error_that_no_clause_documents_is_found() -> None:
    """It shows where a chunk is damaged that is about to be read: one round in ten damages others."""
    target, damages = "py:broken.shm_receiver_stale_is_a_key_error", ("write-header", "write-secret")
    judged = [judge(target, msgspec.structs.replace(SMALL, seed=seed), only=damages) for seed in range(3)]
    told = [each.says for one in judged for survived in one.mishaps for each in survived.broken]
    assert any("KeyError" in each for each in told)


@pytest.mark.slow
@pytest.mark.clause("SC-52")
def test_a_descriptor_that_stays_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    growing = itertools.count(20)
    monkeypatch.setattr("mmcache_ref.oracle.mishaps.rounds.descriptors", lambda: next(growing))
    judged = judge("reference", SMALL, only=("stop-reader", "stop-writer"))
    assert broken(judged) == {"SC-52"}
    assert "21 descriptors are open" in judged.mishaps[1].broken[0].says


@pytest.mark.slow
@pytest.mark.clause("SC-52")
def test_a_process_that_does_not_answer_in_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcache_ref.oracle.mishaps.mishaps.STOPPED_SECONDS", 3600.0)
    options = msgspec.structs.replace(SMALL, answer_seconds=2)
    judged = judge("reference", options, only=("stop-reader",))
    assert broken(judged) == {"SC-52"}
    assert "has not answered for 2 s" in judged.mishaps[0].broken[0].says


def test_a_target_without_such_caches_is_undetermined() -> None:
    judged = judge("py:types", SMALL, only=FAST[:1])
    assert (judged.status, judged.exit_code) == ("undetermined", 3)
    assert "ShmObjectStoreSenderCache" in judged.reason


def test_a_target_that_cannot_be_loaded_is_undetermined() -> None:
    judged = judge("py:no.such.module", SMALL, only=FAST[:1])
    assert (judged.status, judged.exit_code) == ("undetermined", 3)
    assert "cannot be imported" in judged.reason


@pytest.mark.slow
def test_the_profile_of_upstream_asks_for_seed_clauses_only() -> None:
    options = Options(seconds=0, requests=30, has_checksum=False, profile="upstream")
    judged = judge("reference", options, only=("write-payload",))
    assert judged.status == "conforms"


def test_every_mishap_is_blamed_on_a_clause() -> None:
    assert {each.clause for each in MISHAPS.values()} <= all_clauses().keys()


# The trap


class Recorded:
    """A lock that writes down what is done to it."""

    def __init__(self, deeds: list[str]) -> None:
        self._deeds = deeds

    def acquire(self, *_: object) -> bool:
        self._deeds.append("acquired")
        return True

    def release(self) -> None:
        self._deeds.append("released")


@pytest.mark.parametrize(
    ("place", "deeds"),
    [*zip(PLACES, [[], ["acquired"], ["acquired"], ["acquired", "released"]], strict=True)],
)
def test_a_trap_springs_at_its_place_once(
    place: str, deeds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    lock = TrappedLock(Recorded(done), multiprocessing.get_context("spawn"))
    sprung: list[tuple[int, int, list[str]]] = []

    def kill(process: int, signum: int) -> None:
        sprung.append((process, signum, list(done)))

    monkeypatch.setattr("os.kill", kill)
    lock.set_trap(4711, place, 1)
    with lock:
        pass
    assert not sprung
    lock.set_trap(os.getpid(), place, 2)
    for _ in range(3):
        assert lock.is_set is (not sprung)
        done.clear()
        with lock:
            pass
    assert sprung == [(os.getpid(), signal.SIGKILL, deeds)]


def test_a_trap_can_be_taken_away() -> None:
    lock = TrappedLock(RobustLock(), multiprocessing.get_context("spawn"))
    lock.set_trap(os.getpid(), next(iter(PLACES)), 1)
    lock.take_away()
    assert lock.acquire(timeout=0)
    lock.release()


# The command


def test_the_command_prints_a_table_and_exits_by_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("mmcache_ref.cli.mishaps.judge", judged_as("violates", seen))
    words = [
        "conform",
        "reference",
        "--processes",
        "--mishap",
        "kill-reader",
        "--seed",
        "7",
        "--workers",
        "3",
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert (seen[0][1].workers, seen[0][1].seed) == (3, 7)
    assert "SC-47 broken by reference, when a reader is killed" in result.output
    command = "mmcache-ref conform reference --processes --cache shm --mishap kill-reader --workers 3"
    assert f"repeat: {command} --seconds 0 --seed 7" in " ".join(result.output.split())


def test_the_command_prints_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcache_ref.cli.mishaps.judge", judged_as("conforms", []))
    result = CliRunner().invoke(app, ["conform", "reference", "--processes", "--format", "json"])
    assert result.exit_code == 0
    assert json.loads(result.output)["status"] == "conforms"


@pytest.mark.parametrize(
    "words",
    [
        ["--mishap", "earthquake"],
        ["--component", "lru"],
        ["--format", "junit"],
        ["--workers", "5"],
        ["--level", "0"],
        ["--coverage"],
    ],
)
def test_what_makes_no_sense_is_a_usage_error(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["conform", "reference", "--processes", *words]).exit_code == 2


@pytest.mark.parametrize("words", [["--mishap", "kill-p1"], ["--cache", "shm"], ["--workers", "3"]])
def test_what_only_processes_have_is_a_usage_error_without_them(words: list[str]) -> None:
    assert CliRunner().invoke(app, ["conform", "reference", *words]).exit_code == 2


def judged_as(status: Any, seen: list[Any]) -> Callable[..., Judged]:
    """A judgement without processes."""

    def judgement(target: str, options: Options, *_: object, only: tuple[str, ...] | None) -> Judged:
        seen.append((target, options, only))
        found = (Broken("SC-47", "The rule.", "it was seen", options.seed),) if status == "violates" else ()
        return Judged(target, options, status, (Survived("kill-reader", "SC-47", 1, found),))

    return judgement


def test_a_process_that_has_ended_does_not_run() -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=len, args=((),))
    process.start()
    assert process.pid is not None
    process.join(120)
    assert began(process.pid) is None


def test_a_segment_can_be_written_into(no_segment_is_left: None) -> None:
    segment = shared_memory.SharedMemory(segments.fresh_name(), create=True, size=8)
    try:
        segments.write(segment.name, 3, b"ab")
        assert bytes(segment.buf[:8]) == b"\0\0\0ab\0\0\0"
    finally:
        segment.close()
        segment.unlink()
