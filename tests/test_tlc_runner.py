"""TLC is found, run, and understood."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.tlc.output import Checked, Reader
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.tools import ToolMissing, check_sum, java, tla2tools

COUNTER = r"""
---- MODULE Counter ----
EXTENDS Naturals, TLC
VARIABLE x
Init == x = 0
Up == x < 2 /\ x' = x + 1
Reset == x = 2 /\ x' = 0
Never == x = 9 /\ x' = 0
Next == Up \/ Reset \/ Never
Wander == Next /\ PrintT("seen")
Hasten == x' = x + 1
Spec == Init /\ [][Next]_x /\ WF_x(Next)
Lazy == Init /\ [][Next]_x
Printing == Init /\ [][Wander]_x
Endless == Init /\ [][Hasten]_x
Ending == Init /\ [][Up]_x
Small == x < 3
Smaller == x < 2
UpOrDown == [][x' # x + 1 \/ x = 0]_x
Again == []<>(x = 2)
====
"""


@pytest.fixture
def check(tmp_path: Path):
    (tmp_path / "Counter.tla").write_text(COUNTER)

    def checked(config: str, **options: object) -> Checked:
        (tmp_path / "Counter.cfg").write_text(config)
        printed = options.pop("printed", lambda line: None)
        job = Job(tmp_path / "Counter.tla", tmp_path / "Counter.cfg", is_short=True, heap_mib=256, **options)
        return run(job, printed=printed)

    return checked


def test_a_model_that_holds_is_counted_action_by_action(check) -> None:
    found = check("SPECIFICATION Spec\nINVARIANT Small\nPROPERTY Again", coverage=True)
    assert (found.result, found.distinct, found.generated, found.depth) == ("success", 3, 4, 3)
    assert found.actions == {"Init": (1, 1), "Up": (2, 2), "Reset": (0, 1), "Never": (0, 0)}
    assert float(found.collision) < 1e-9
    assert 0 < found.processor_seconds < 600


def test_a_violated_invariant_is_named_with_its_run(check) -> None:
    found = check("SPECIFICATION Spec\nINVARIANT Small Smaller")
    assert (found.result, found.property) == ("safety failure", "Smaller")
    assert [(step.action, step.state["x"]) for step in found.trace] == [("Init", 0), ("Up", 1), ("Up", 2)]


def test_a_violated_property_of_steps_is_named(check) -> None:
    found = check("SPECIFICATION Spec\nPROPERTY UpOrDown")
    assert (found.result, found.property, len(found.trace)) == ("safety failure", "UpOrDown", 3)


def test_a_liveness_failure_says_where_it_stays(check) -> None:
    found = check("SPECIFICATION Lazy\nPROPERTY Again")
    assert found.result == "liveness failure"
    assert found.loop == len(found.trace)


def test_a_deadlock_is_a_failure_unless_it_may_be(check) -> None:
    assert check("SPECIFICATION Ending").result == "deadlock failure"
    assert check("SPECIFICATION Ending", ends_early=True).result == "success"


def test_what_cannot_be_read_is_an_error_that_is_told(check) -> None:
    found = check("SPECIFICATION Spec\nINVARIANT Absent")
    assert found.result == "error"
    assert "Absent" in "".join(found.errors)


@pytest.mark.parametrize("refusals", [1, 2])
def test_a_machine_that_starts_no_process_is_asked_twice_and_told_of(
    check, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    start, refused = subprocess.Popen, []

    def refuse(*arguments: Any, **options: Any) -> Any:
        if len(refused) < refusals:
            refused.append(BlockingIOError(11, "Resource temporarily unavailable"))
            raise refused[-1]
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", refuse)
    found = check("SPECIFICATION Spec\nINVARIANT Small")
    assert len(refused) == refusals
    if refusals == 1:
        assert found.result == "success"
    else:
        assert found.result == "error"
        assert found.errors == ["TLC could not be started: [Errno 11] Resource temporarily unavailable"]


def test_what_takes_too_long_is_undetermined_and_stopped(check) -> None:
    found = check("SPECIFICATION Endless", seconds=3)
    assert found.result == "undetermined"
    assert "3 s" in found.errors[-1]


STARTER = """
from pathlib import Path
from mmcache_ref.tlc.runner import Job, run
module, config = Path("Counter.tla").resolve(), Path("Counter.cfg").resolve()
run(Job(module, config, is_short=True, heap_mib=256, seconds=200))
"""


def javas(folder: Path) -> list[int]:
    """The processes of Java that work in this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if str(folder).encode() in b" ".join(words) and words[0].endswith(b"java"):
                found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
def test_tlc_ends_with_whoever_started_it_however_that_ends(tmp_path: Path) -> None:
    (tmp_path / "Counter.tla").write_text(COUNTER)
    (tmp_path / "Counter.cfg").write_text("SPECIFICATION Endless")
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", STARTER], cwd=tmp_path, env=environment) as starter:
        try:
            await_that(lambda: bool(javas(tmp_path)))
        finally:
            starter.kill()
    await_that(lambda: not javas(tmp_path))


COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from mmcache_ref.cli import main
main()
"""


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_process_and_no_folder(tmp_path: Path, signum: int) -> None:
    """The signal goes to the command alone, while two models are checked."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", COMMAND, "models", "lru-small", "ring-buffer-small"]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            await_that(lambda: len(javas(tmp_path)) == 2)
            process.send_signal(signum)
            _, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, stderr
    assert list(tmp_path.glob("mmcache-*")) == []
    await_that(lambda: not javas(tmp_path))


def await_that(holds: Callable[[], bool]) -> None:
    """Wait until it does, at most a minute and a half."""
    end = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_what_a_model_prints_is_handed_on(check) -> None:
    lines: list[str] = []
    check("SPECIFICATION Printing", printed=lines.append)
    assert lines.count('"seen"') == 3


def test_a_jar_that_is_not_the_published_one_is_refused(tmp_path: Path) -> None:
    jar = tmp_path / "tla2tools.jar"
    jar.write_bytes(b"another")
    with pytest.raises(ToolMissing, match="Reinstall"):
        check_sum(jar, hashlib.sha256(b"one").hexdigest())


def test_a_jar_of_ones_own_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "mine.jar"
    jar.write_bytes(b"mine")
    monkeypatch.setenv("TLA2TOOLS_JAR", str(jar))
    assert tla2tools.__wrapped__().path == jar
    monkeypatch.setenv("TLA2TOOLS_JAR", str(tmp_path / "absent.jar"))
    with pytest.raises(ToolMissing, match="TLA2TOOLS_JAR"):
        tla2tools.__wrapped__()


def test_the_newest_java_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = tmp_path / "bin" / "java"
    newer.parent.mkdir()
    newer.write_text("#!/bin/sh\necho 'openjdk version \"99.0.1\"' >&2\n")
    newer.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.__wrapped__() == (newer, "99.0.1")
    newer.write_text("#!/bin/sh\necho 'java version \"1.8.0\"' >&2\n")
    assert java.__wrapped__().path != newer


def test_a_run_that_breaks_off_is_not_finished() -> None:
    reader = Reader()
    found = reader.read(["@!@!@STARTMSG 2193:0 @!@!@", "Model checking completed.", "@!@!@ENDMSG 2193 @!@!@"])
    assert found.result == "success"
    assert not reader.is_finished
