"""`mmcache-ref shm`, in this process: what it shows and what it removes."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcache_ref.cli import main
from mmcache_ref.oracle import segments as judged
from mmcache_ref.reference import segments
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring

pytestmark = [pytest.mark.timeout(120), pytest.mark.clause("RB-37")]


@pytest.fixture
def live() -> Iterator[str]:
    """The name of a segment in use."""
    ring = Ring(2**20, f"mmcache-test-{secrets.token_hex(6)}", create=True)
    yield ring.shared_memory.name
    ring.close()


@pytest.fixture
def stale() -> Iterator[tuple[str, int]]:
    """The name of a segment that a killed writer left, and the writer's process."""
    name = f"mmcache-test-{secrets.token_hex(6)}"
    writer = (
        "import os, signal\n"
        "from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring\n"
        f"ring = Ring(3 * 2**19, {name!r}, create=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = subprocess.Popen([sys.executable, "-c", writer])
    process.wait()
    yield name, process.pid
    segment(name).unlink(missing_ok=True)


def segment(name: str) -> Path:
    return segments.SHOWN_IN / name


def shm(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `mmcache-ref shm` prints with these arguments; it must succeed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["mmcache-ref", "shm", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
    assert not exit_info.value.code
    return capsys.readouterr().out


def test_list_shows_who_wrote_a_segment_and_whether_it_is_in_use(
    capsys: pytest.CaptureFixture[str], live: str, stale: tuple[str, int]
) -> None:
    name, pid = stale
    rows = {
        line.split()[0]: " ".join(line.split()[1:]) for line in shm(capsys, "list", live, name).splitlines()
    }
    assert rows["name"] == "MiB writer state"
    assert rows[live].startswith("1.00 process ")
    assert rows[live].endswith(" in use")
    assert rows[name] == f"1.50 process {pid} left by a dead writer"
    assert "mmcache-ref shm clean" in rows["Remove"]


def test_clean_removes_what_a_dead_writer_left_and_nothing_in_use(
    capsys: pytest.CaptureFixture[str], live: str, stale: tuple[str, int]
) -> None:
    name, pid = stale
    assert shm(capsys, "clean", live, name) == f"removed {name}: 1.50 MiB, left by process {pid}\n"
    assert segment(live).exists()
    assert not segment(name).exists()
    assert shm(capsys, "clean", live, name).startswith("Nothing to remove")


def test_a_segment_of_a_writer_killed_at_the_very_beginning_has_no_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"mmcache-test-{secrets.token_hex(6)}"
    try:
        segment(name).touch()
        os.utime(segment(name), (0, 0))
        row = " ".join(shm(capsys, "list", name).splitlines()[1].split())
        assert row == f"{name} 0.00 unknown left by a dead writer"
        assert shm(capsys, "clean", name) == f"removed {name}: 0.00 MiB, left by an unknown process\n"
    finally:
        segment(name).unlink(missing_ok=True)


def test_without_names_all_are_meant(
    capsys: pytest.CaptureFixture[str], live: str, stale: tuple[str, int]
) -> None:
    shown = {each["name"]: each for each in json.loads(shm(capsys, "list", "--format", "json"))}
    assert shown[stale[0]] == {
        "name": stale[0],
        "capacity": 3 * 2**19,
        "pid": stale[1],
        "is_stale": True,
    }
    assert not shown[live]["is_stale"]


def test_what_a_killed_judgement_left_is_shown_and_removed_too(
    capsys: pytest.CaptureFixture[str],
    stale: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A judged target need not write down whose its segments are."""
    monkeypatch.setattr(judged, "FOLDER", tmp_path)  # in /dev/shm whoever judges meanwhile would remove it
    left = judged.FOLDER / judged.fresh_name().replace(str(os.getpid()), str(stale[1]))
    try:
        left.write_bytes(bytes(2**20))
        row = " ".join(shm(capsys, "list", left.name).splitlines()[1].split())
        assert row == f"{left.name} 1.00 process {stale[1]} left by a dead writer"
        assert shm(capsys, "clean", "another").startswith("Nothing to remove")
        assert left.exists()
        assert shm(capsys, "clean", left.name).startswith(f"removed {left.name}: 1.00 MiB")
        assert not left.exists()
    finally:
        left.unlink(missing_ok=True)


def test_a_name_that_is_not_there_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert shm(capsys, "list", "no-such-segment").strip() == "/dev/shm holds no such segment of this library."


def test_a_system_that_shows_nothing_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(segments, "SHOWN_IN", tmp_path / "nowhere")
    monkeypatch.setattr(sys, "argv", ["mmcache-ref", "shm", "list"])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert exit_info.value.code == 1
    assert "does not show its shared memory" in capsys.readouterr().err
