"""Writer and readers in every order on one segment: what the scheduler shows on which target."""

from __future__ import annotations

import io
import itertools
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from rich.console import Console

from mmcache_ref import reference
from mmcache_ref.model.component import Raised
from mmcache_ref.model.object_store import Get
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.interleaving.judge import interleave, judge, replay
from mmcache_ref.oracle.interleaving.linearize import unexplained
from mmcache_ref.oracle.interleaving.ring_scenarios import RING_SCENARIOS
from mmcache_ref.oracle.interleaving.scenario import Call, ProtocolScenario
from mmcache_ref.oracle.interleaving.scenarios import LATE_COUNT, SCENARIOS, put
from mmcache_ref.oracle.interleaving.schedules import schedule_of
from mmcache_ref.oracle.interleaving.subject import Done, Played
from mmcache_ref.oracle.interleaving.trial import Form, Trial, subject_of
from mmcache_ref.oracle.interleaving.verdicts import OUT_OF_TIME, Options, ScenarioVerdict
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage
from mmcache_ref.report.interleaving import interleaved_text

UPSTREAM = (pytest.mark.upstream, pytest.mark.slow)
ONE = Options(preemptions=1)
TWO = Options(preemptions=2)


def broken(verdict: ScenarioVerdict) -> dict[str, int]:
    """The broken clauses, with the preemptions of the first schedule that breaks each."""
    assert not verdict.reason
    return {finding.clause: finding.preemptions for finding in verdict.findings}


def judged(target: Any, scenario: str, options: Options = ONE) -> ScenarioVerdict:
    namespace = resolve(target) if isinstance(target, str) else target
    return judge(namespace, SCENARIOS[scenario], options)


def with_store(store: type) -> SimpleNamespace:
    """The reference with another store."""
    return SimpleNamespace(**{**vars(reference), "SingleWriterShmObjectStorage": store})


@pytest.mark.clause("OS-20", "OS-22", "OS-23", "OS-32", "OS-41")
@pytest.mark.parametrize("scenario", ["get-get", "get-clear-put", "stale-get-put", "early-get"])
def test_the_reference_is_right_in_every_schedule_with_one_preemption(scenario: str) -> None:
    verdict = judged("reference", scenario)
    assert verdict.status == "conforms"
    assert verdict.schedules > 10
    assert broken(verdict) == {}


@pytest.mark.clause("RB-15", "RB-16", "RB-29")
@pytest.mark.parametrize("scenario", [each.name for each in RING_SCENARIOS if not each.left_to_protocol])
def test_a_live_chunk_stays_as_it_is_whatever_the_writer_does(scenario: str) -> None:
    assert broken(judged("reference", scenario)) == {}


@pytest.mark.clause("RB-29")
@pytest.mark.parametrize("scenario", ["ring-polled", "ring-clear"])
def test_what_is_not_handed_out_or_not_live_is_nobodys_to_read(scenario: str) -> None:
    verdict = judged("reference", scenario)
    assert broken(verdict) == {"RB-29": 1}
    assert verdict.status == "conforms"


@pytest.mark.upstream
@pytest.mark.clause("RB-15", "RB-21")
def test_rings_of_published_releases_give_views_of_wrong_length_and_ids_twice() -> None:
    assert broken(judged("vllm@0.32.0", "ring-stale")) == {"RB-15": 0}
    assert broken(judged("vllm@0.32.0", "ring-drained-clear")) == {}
    assert broken(judged("vllm@0.31.0", "ring-drained-clear")) == {"RB-21": 0}


@pytest.mark.slow
@pytest.mark.clause("SC-39", "SC-40", "SC-41")
@pytest.mark.parametrize("target", ["reference", pytest.param("vllm@0.32.0", marks=pytest.mark.upstream)])
def test_inside_the_protocol_nothing_goes_wrong(target: str) -> None:
    # What 0.32 breaks where its store meets a clear, the protocol does not let happen.
    for scenario in SCENARIOS.values():
        if isinstance(scenario, ProtocolScenario) and not scenario.without:
            assert broken(judged(target, scenario.name)) == {}


@pytest.mark.clause("SC-38")
@pytest.mark.parametrize("scenario", ["protocol-abort", "protocol-reject"])
def test_what_is_released_while_it_is_read_costs_nothing(scenario: str) -> None:
    verdict = judged("reference", scenario)
    assert broken(verdict) == {}
    assert verdict.schedules > 50


@pytest.mark.slow
@pytest.mark.clause("OS-20", "OS-22", "OS-23", "OS-32", "OS-41")
@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if not SCENARIOS[name].left_to_protocol])
def test_the_reference_is_right_in_every_schedule_with_two_preemptions(scenario: str) -> None:
    verdict = judged("reference", scenario, TWO)
    assert verdict.status == "conforms"
    assert broken(verdict) == {}


@pytest.mark.clause("OS-23")
@pytest.mark.parametrize("scenario", ["unprotected-clear", "unvalidated-handle"])
def test_without_lock_and_protocol_a_count_lands_in_another_chunk(scenario: str) -> None:
    verdict = judged("reference", scenario)
    assert broken(verdict) == {"OS-23": 1}
    assert set(broken(verdict)) <= set(LATE_COUNT)
    assert verdict.status == "conforms"  # the clause is the protocol's to keep there
    protected = {"unprotected-clear": "drained-clear", "unvalidated-handle": "validated-handle"}
    assert broken(judged("reference", protected[scenario])) == {}


@pytest.mark.slow
@pytest.mark.clause("SC-43")
def test_a_handle_of_a_client_without_a_reference_costs_another_chunk_its_count() -> None:
    verdict = judged("reference", "protocol-unreferenced", TWO)
    assert broken(verdict) == {"SC-43": 2}
    assert verdict.status == "conforms"  # it is this protection that is off
    assert broken(judged("reference", "protocol-replay", TWO)) == {}


@pytest.mark.clause("SC-41")
def test_a_clear_that_does_not_wait_meets_a_worker_half_way() -> None:
    verdict = judged("reference", "protocol-clear-at-once")
    assert broken(verdict) == {"SC-41": 1}
    assert verdict.status == "conforms"  # it is this protection that is off


@pytest.mark.clause("SC-34", "SC-44")
def test_a_clear_after_a_death_waits_for_what_is_being_read_and_leaves_no_seal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_once = judged("reference", "protocol-death-at-once")
    assert broken(at_once) == {"SC-34": 1}
    assert at_once.status == "conforms"  # nobody clears before the others are done
    assert broken(judged("reference", "protocol-death")) == {}
    monkeypatch.setattr(SingleWriterShmObjectStorage, "_wipe", lambda self, addresses: None)
    assert broken(judged("reference", "protocol-death")) == {"SC-34": 1}


@pytest.mark.upstream
@pytest.mark.clause("SC-34")
def test_a_published_release_counts_in_another_chunk_after_a_death() -> None:
    assert broken(judged("vllm@0.32.0", "protocol-death")) == {"SC-34": 1}


@pytest.mark.upstream
@pytest.mark.clause("OS-23", "OS-41")
@pytest.mark.parametrize("version", ["0.31.0", "0.32.0"])
def test_published_releases_show_the_torn_read_and_the_late_count(version: str) -> None:
    target = f"vllm@{version}"
    found = {scenario: broken(judged(target, scenario)) for scenario in ("get-clear-put", "stale-get-put")}
    assert found["stale-get-put"] == {"OS-41": 1, "OS-23": 1}
    # Before 0.32 ids began anew after a clear, without any preemption.
    assert found["get-clear-put"] == {"OS-41": 1} | ({"OS-29": 0} if version == "0.31.0" else {"OS-23": 1})
    assert broken(judged(target, "get-get")) == {}


@pytest.mark.slow
@pytest.mark.upstream
@pytest.mark.clause("OS-41")
def test_a_published_release_gives_out_what_is_no_object() -> None:
    torn = {each.clause: each.says for each in judged("vllm@0.32.0", "get-clear-put-larger").findings}
    assert "bytes that are no object" in torn["OS-41"]


@pytest.mark.upstream
def test_a_finding_repeats_with_what_its_report_says() -> None:
    namespace = resolve("vllm@0.32.0")
    verdict = judge(namespace, SCENARIOS["get-clear-put"], ONE)
    for finding in verdict.findings:
        encoded = msgspec.json.encode(finding)
        read = msgspec.json.decode(encoded, type=type(finding))
        again = replay(namespace, read.scenario, read.schedule)
        assert [each.clause for each in again.findings] == [finding.clause]
        assert again.findings[0].lanes == finding.lanes
        assert not again.reason


@pytest.mark.parametrize(
    ("target", "scenario"),
    [("reference", "ring-take-back"), pytest.param("vllm@0.32.0", "stale-get-put", marks=UPSTREAM)],
)
def test_every_schedule_that_stops_within_lines_can_be_written_down_and_repeats(
    target: str, scenario: str
) -> None:
    trial = Trial(resolve(target), SCENARIOS[scenario], bytecodes=True)
    within = 0
    for played in trial.explore(1):
        schedule = schedule_of(played.execution)
        again, lost = trial.follow(schedule)
        assert not lost
        assert schedule_of(again.execution) == schedule
        assert (again.history, again.observation) == (played.history, played.observation)
        within += any("+" in (block.until or "") for block in schedule)
    assert within > 10


@pytest.mark.upstream
@pytest.mark.slow
def test_within_lines_nothing_else_is_found() -> None:
    for scenario, clauses in (("stale-get-put", {"OS-41": 1, "OS-23": 1}), ("get-get", {})):
        options = Options(preemptions=1, bytecodes=True)
        assert broken(judged("vllm@0.32.0", scenario, options)) == clauses
        assert broken(judged("reference", scenario, options)) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"threads": {"writer": (), "reader-0": (Call(Get("a")),)}},
            "'writer' of the scenario makes no call",
        ),
        ({"threads": {}}, "the scenario has no threads"),
        ({"threads": {"r": (Call(Get("a"), after=(("w", 3),)),)}}, "call 0 of r waits for call 3 of w"),
        ({"threads": {"r": (Call(Get("z")),)}}, "call 0 of r takes a handle of 'z', which nobody puts"),
        ({"threads": {"r": (Call(Get("a", reader=7)),)}}, "is made by a reader that is none of the 1"),
    ],
)
def test_a_scenario_in_which_a_call_is_never_made_is_refused(change: dict[str, Any], message: str) -> None:
    scenario = msgspec.structs.replace(SCENARIOS["get-put"], **change)
    with pytest.raises(BadRun, match=message):
        replay(reference, scenario, ())


@pytest.mark.parametrize(
    ("store", "scenario", "clauses"),
    [
        ("counts_outside_the_lock", "get-get", {"OS-32": 1}),
        ("compares_once", "get-clear-put", {"OS-41": 1, "OS-23": 1}),
        ("compares_once", "stale-get-put", {"OS-41": 1, "OS-23": 1}),
        ("wipes_late", "get-clear-put", {"OS-23": 2}),
        ("counts_from_zero_last", "early-get", {"OS-32": 1}),
    ],
)
def test_a_store_that_leaves_out_one_precaution_is_found(
    store: str, scenario: str, clauses: dict[str, int]
) -> None:
    found = judged(f"py:racing.{store}", scenario, Options(max(clauses.values())))
    assert broken(found) == clauses


@pytest.mark.parametrize(
    ("fault", "scenario", "clause"),
    [
        pytest.param("S04", "protocol-children", "SC-39", marks=pytest.mark.slow),
        pytest.param("S05", "protocol-resume", "SC-40", marks=pytest.mark.slow),
        ("S03", "protocol-abort", "SC-38"),
        ("S07", "protocol-clear", "SC-41"),
        ("S19", "protocol-replay", "SC-43"),
        ("S08", "get-clear", "OS-29"),
        ("S11", "ring-reuse", "RB-16"),
        ("S15", "protocol-death", "SC-44"),
        ("S12", "early-get", "OS-08"),
        ("S14", "get-failing-put", "OS-07"),
        ("S16", "early-get", "OS-08"),
    ],
)
def test_faults_of_the_field_are_found(fault: str, scenario: str, clause: str) -> None:
    assert clause in broken(judged(f"fault:{fault}", scenario))


@pytest.mark.parametrize(
    ("target", "scenario", "preemptions"),
    [
        ("reference", "get-again", 1),
        ("reference", "ring-allocate", 1),
        pytest.param("reference", "ring-take-back", 2, marks=pytest.mark.slow),
        pytest.param("reference", "protocol-put", 1, marks=pytest.mark.slow),
        pytest.param("reference", "get-clear-put", 1, marks=pytest.mark.slow),
        pytest.param("reference", "put-get", 1, marks=pytest.mark.slow),
        pytest.param("reference", "get-free", 2, marks=pytest.mark.slow),
        pytest.param("vllm@0.32.0", "get-clear-put", 1, marks=[pytest.mark.slow, pytest.mark.upstream]),
    ],
)
def test_what_is_left_out_shows_nothing_new(target: str, scenario: str, preemptions: int) -> None:
    # Without the reduction every line is a yield point, and no schedule is left out. What ended earlier is
    # harder to explain, so a run is covered by one in which more calls ended before others began.
    few, all_of_them = (forms(target, scenario, preemptions, everything=each) for each in (False, True))
    assert len(all_of_them) > 1
    for form in all_of_them:
        assert any(
            each.results == form.results and each.left == form.left and each.before >= form.before
            for each in few
        )


def forms(target: str, scenario: str, preemptions: int, *, everything: bool) -> list[Form]:
    """All runs, as far as they can be told apart."""
    trial = Trial(resolve(target), SCENARIOS[scenario], everything=everything)
    trial.divide()
    for played in trial.explore(preemptions):
        trial.wrong(played)
    return trial.forms


def test_random_schedules_find_what_a_bound_of_zero_does_not() -> None:
    options = Options(preemptions=0, schedules=60, seed=5)
    verdict = judged("py:racing.compares_once", "get-clear-put", options)
    assert verdict.status == "violates"
    (first, *_) = verdict.findings
    assert first.seed is not None
    assert first.preemptions == 1
    assert judged("py:racing.compares_once", "get-clear-put", options).findings == verdict.findings


@pytest.mark.parametrize(
    ("seconds", "bound", "reason"), [(3, None, OUT_OF_TIME), (100, 0, OUT_OF_TIME), (5000, 1, "")]
)
def test_in_a_bounded_time_every_scenario_gets_as_far_as_the_others(
    monkeypatch: pytest.MonkeyPatch, seconds: float, bound: int | None, reason: str
) -> None:
    # A clock that goes on by a second whenever somebody looks at it.
    clock = itertools.count()
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    chosen = [SCENARIOS[name] for name in ("get-get", "get-free", "get-clear", "get-again")]
    found = interleave(reference, "reference", chosen, Options(preemptions=1, seconds=seconds))
    assert {(each.bound, each.reason) for each in found.scenarios} == {(bound, reason)}
    assert found.status == ("undetermined" if reason else "conforms")
    assert all(each.schedules > 2 for each in found.scenarios) == (bound is not None)


@pytest.mark.slow
def test_a_violation_is_shown_with_no_more_calls_than_it_needs() -> None:
    scenario = SCENARIOS["stale-get-put"]
    more = msgspec.structs.replace(
        scenario, threads={name: (*calls, *calls) for name, calls in scenario.threads.items()}
    )
    verdict = judge(resolve("py:racing.compares_once"), more, ONE)
    late = next(each for each in verdict.findings if each.clause == "OS-23")
    assert [len(calls) for calls in late.scenario.threads.values()] == [1, 1]


def test_a_target_that_is_a_ring_alone_is_judged_as_one() -> None:
    ring = ModuleType("ring")
    vars(ring)["SingleWriterShmRingBuffer"] = reference.SingleWriterShmRingBuffer
    chosen = [SCENARIOS[name] for name in ("ring-stale", "get-get", "protocol-put")]
    found = interleave(ring, "ring", chosen, ONE)
    assert [each.status for each in found.scenarios] == ["conforms", "not offered", "not offered"]
    assert found.status == "conforms"
    four = interleave(ring, "ring", [SCENARIOS[name] for name in list(SCENARIOS)[-4:]], ONE)
    assert four.status == "undetermined"
    console = Console(width=200, file=io.StringIO())
    with console.capture() as captured:
        console.print(interleaved_text(four))
    assert captured.get().count("4 scenarios: the target offers no ShmObjectStoreSenderCache") == 1


def test_a_target_without_seals_is_not_asked_about_them() -> None:
    class Unsealed(SingleWriterShmObjectStorage):
        def _mark_secret(self) -> None:
            pass

    verdict = judged(with_store(Unsealed), "early-get")
    assert verdict.status == "not offered"
    assert "does not seal" in verdict.reason


def test_a_target_that_is_wrong_by_itself_is_undetermined() -> None:
    class Forgets(SingleWriterShmObjectStorage):
        def put(self, key: str, value: Any) -> tuple[int, int]:
            address, identifier = super().put(key, value)
            return address + 1, identifier

    verdict = judged(with_store(Forgets), "get-get")
    assert verdict.status == "undetermined"
    assert "judge it with conform first" in verdict.reason


@pytest.mark.clause("OS-46")
def test_a_target_that_never_gives_the_lock_back_is_a_deadlock() -> None:
    class KeepsTheLock(SingleWriterShmObjectStorage):
        def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
            assert self._reader_lock is not None
            return self._reader_lock.acquire()

    assert broken(judged(with_store(KeepsTheLock), "get-get", Options(preemptions=0))) == {"OS-46": 0}


@pytest.mark.parametrize(
    ("got", "begin", "end", "reads", "clause"),
    [
        (put("a", 1).content, 1, 6, 0, None),
        (Raised("ValueError", "has been modified or is invalid"), 1, 6, 0, None),
        (Raised("ValueError", "has been modified or is invalid"), 7, 8, 0, None),
        (put("a", 1).content, 7, 8, 0, "OS-21"),
        (Raised("ValueError", "has been modified or is invalid"), 0, 1, 0, "OS-20"),
        (Unexpected("half of each"), 1, 6, 0, "OS-41"),
        (Unexpected("half of each"), 7, 8, 0, "OS-21"),
        (put("a", 1).content, 1, 6, 1, "OS-23"),
        (put("a", 1).content, 0, 1, 1, "OS-32"),
    ],
)
def test_a_run_is_right_if_some_order_of_whole_calls_explains_it(
    got: Any, begin: int, end: int, reads: int, clause: str | None
) -> None:
    scenario = SCENARIOS["get-clear-put"]
    (clear, then_put), (get,) = scenario.threads.values()
    done = (
        Done("writer", 0, clear, 2, 3, None),
        Done("writer", 1, then_put, 4, 5, (0, 1)),
        Done("reader-0", 0, get, begin, end, got),
    )
    played = Played(None, done, {"reads": (("b", reads),)})  # type: ignore[arg-type]
    found = unexplained(subject_of(scenario), played)
    assert (found and found.clause) == clause
