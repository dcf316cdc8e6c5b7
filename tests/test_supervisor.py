"""Judging in a process of its own: whatever a target does, there is a verdict, and nothing stays behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mmcache_ref.model import receiver
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.suite import Options
from mmcache_ref.oracle.supervisor import judge_target
from mmcache_ref.oracle.verdict import ComponentVerdict, TargetVerdict
from mmcache_ref.oracle.worker import Judged, Message, Ready

TESTS = Path(__file__).parent
SILENCE = 20.0
"""Seconds. Longer than a worker needs from one message to the next, also on a busy machine."""

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")


@pytest.fixture(autouse=True)
def rogues_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))


def judge(name: str, *components: str, profile: str = "safe") -> TargetVerdict:
    options = Options(components or ("receiver",), profile, seconds=0.2)  # type: ignore[arg-type]
    return judge_target(f"py:rogue.{name}", options, silence=SILENCE)


def processes() -> dict[int, str]:
    """The command lines of all processes but zombies, by process id."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def is_child(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())
    except OSError:
        return False


@pytest.fixture(autouse=True)
def nothing_stays_behind() -> object:
    yield
    for _ in range(50):
        # A killed process may still be listed for a moment.
        left = [
            line
            for pid, line in processes().items()
            if line.startswith("sleep 4321") or ("oracle.worker" in line and is_child(pid))
        ]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def only_component(verdict: TargetVerdict) -> ComponentVerdict:
    (component,) = verdict.components
    return component


@pytest.mark.parametrize(
    ("name", "clause", "says"),
    [
        ("leaves", "KR-12", "with exit code 0"),
        pytest.param("exits", "KR-12", "sys.exit(0)", marks=pytest.mark.slow),
        pytest.param("is_killed", "KR-12", "by SIGKILL; it said: about to die", marks=pytest.mark.slow),
        pytest.param("blocks", "IF-20", "did not come back", marks=pytest.mark.slow),
    ],
)
def test_what_a_touch_does_to_the_process_is_a_violation_with_its_run(
    name: str, clause: str, says: str
) -> None:
    verdict = only_component(judge(name))
    assert verdict.status == "violates"
    broken = next(each for each in verdict.broken if each.id == clause)
    assert broken.run is not None
    assert broken.run.mismatch is not None
    # A touch is the first operation of the alphabet, and the last of the run.
    assert broken.run.operations == (receiver.Touch("a"),)
    assert says in str(broken.run.mismatch.actual)


def test_a_run_that_ends_the_process_is_shrunk_and_what_was_kept_before_is_shown() -> None:
    # Killed by a miss that follows an eviction: without one of them nothing happens.
    verdict = only_component(judge("is_killed_by_a_miss"))
    (broken,) = verdict.broken
    assert broken.run is not None
    # One request may do both, where fuzzing met such a one.
    tags = [operation.__struct_config__.tag for operation in broken.run.operations]
    assert tags in (["features"], ["update", "features"])
    assert "SIGKILL" in broken.sentence
    kept = {each.id for each in verdict.clauses if each.status == "kept"}
    assert {"KR-08", "KR-12"} <= kept
    assert "KR-14" not in kept
    assert verdict.coverage.edges > 0
    assert "what is kept was compared before that" in verdict.reason


@pytest.mark.slow
@pytest.mark.clause("IF-20")
def test_a_touch_that_spins_is_stopped_long_before_the_silence_is_noticed() -> None:
    options = Options(("receiver",), seconds=0)
    verdict = only_component(judge_target("py:rogue.spins", options, silence=120.0))
    assert [each.id for each in verdict.broken] == ["IF-20"]
    (broken,) = verdict.broken
    assert broken.run is not None
    assert broken.run.mismatch is not None
    assert "no answer within" in str(broken.run.mismatch.actual)


@pytest.mark.slow
def test_a_component_that_dies_does_not_take_the_others_with_it() -> None:
    verdict = judge("leaves", "items", "receiver", "sender")
    assert [each.component for each in verdict.components] == ["items", "receiver", "sender"]
    assert verdict.components[0].coverage.is_exhaustive
    assert verdict.components[1].status == "violates"
    assert verdict.components[2].coverage.is_exhaustive
    assert verdict.components[2].status == "conforms"
    assert verdict.status == "violates"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fails_at_import", "RuntimeError: a library is missing"),
        ("dies_at_import", "while it was loaded, the process of the target ended with exit code 5"),
        ("exits_at_import", "exit"),
        ("no_such_module", "No module named 'rogue.no_such_module'"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_undetermined_and_says_why(name: str, says: str) -> None:
    verdict = judge(name)
    assert verdict.status == "undetermined"
    assert says in only_component(verdict).reason


@pytest.mark.slow
def test_what_a_target_prints_is_no_message() -> None:
    verdict = only_component(judge("shouts"))
    assert verdict.status == "conforms"
    assert verdict.coverage.is_exhaustive


@pytest.mark.slow
def test_what_a_target_starts_ends_with_its_judgement() -> None:
    assert judge("leaves_a_child").status == "conforms"


def test_a_copy_that_a_target_forks_does_not_go_on_judging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_again = tmp_path / "copy"
    monkeypatch.setenv("ROGUE_COPY", str(asked_again))
    assert judge("forks").status == "conforms"
    assert not asked_again.exists(), "a copy of the process that judges went on"


def test_the_observer_sees_each_message_with_its_target() -> None:
    seen: list[tuple[str, Message]] = []
    judge_target(
        "reference",
        Options(("factories",), seconds=0),
        observer=lambda target, message: seen.append((target, message)),
    )
    assert {target for target, _ in seen} == {"reference"}
    assert isinstance(seen[0][1], Ready)
    assert isinstance(seen[-1][1], Judged)


def test_a_target_that_lacks_a_name_is_undetermined_in_the_components_that_need_it() -> None:
    options = Options(("receiver",), seconds=0)
    verdict = judge_target("py:collections", options)
    assert verdict.status == "undetermined"
    assert "LruKeyReplicatedReceiverCache" in only_component(verdict).reason


@pytest.mark.skipif(not segments.FOLDER.is_dir(), reason="segments cannot be listed here")
def test_a_killed_worker_leaves_no_segment() -> None:
    started: list[int] = []
    names_of = segments.remove_all_of

    def remove_all_of(process: int) -> None:
        started.append(process)
        names_of(process)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "remove_all_of", remove_all_of)
        options = Options(("ring-buffer",), seconds=0)
        verdict = only_component(judge_target("py:rogue.ring_is_killed", options, silence=60.0))
    assert "SIGKILL" in verdict.broken[0].sentence
    assert started
    left = [path.name for path in segments.FOLDER.iterdir()]
    assert [name for name in left if name.startswith(tuple(f"mmo{process}." for process in started))] == []
