"""Folders that are needed for a while leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcache_ref.oracle.known_process import began
from mmcache_ref.oracle.scratch import remove_scratch, scratch, sweep


def test_a_folder_is_gone_when_its_block_is_left_and_when_all_are_removed() -> None:
    with scratch("test") as folder:
        folder.joinpath("file").write_text("")
    assert not folder.exists()
    with scratch("test") as folder:
        remove_scratch()
        assert not folder.exists()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_folder_of_a_thread_is_gone_after_an_interruption(signum: int, tmp_path: Path) -> None:
    code = f"""
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from mmcache_ref.cli import console, main
from mmcache_ref.oracle.scratch import scratch
def hold(has_begun):
    with scratch("test"):
        has_begun.set()
        time.sleep(60)
def command():
    has_begun = threading.Event()
    threading.Thread(target=hold, args=[has_begun], daemon=True).start()
    has_begun.wait()
    print(os.listdir(os.environ["TMPDIR"]), flush=True)
    os.kill(os.getpid(), {int(signum)})
    time.sleep(60)
console.app.command("wait")(command)
sys.argv = ["mmcache-ref", "wait"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert "mmcache-test-" in done.stdout
    assert done.returncode == 130
    assert list(tmp_path.iterdir()) == []


HOLD = """
import contextlib, sys
from mmcache_ref.oracle.scratch import scratch
with contextlib.ExitStack() as stack:
    for _ in range(10):
        stack.enter_context(scratch("test")).joinpath("folder").mkdir()
    print("made", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where folders are made, here and in what is started from here."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has made ten folders, with something in each."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "made\n"
            assert len(list(place.iterdir())) == 10
            yield process
        finally:
            process.kill()


def test_who_makes_a_folder_removes_what_a_killed_process_left(
    place: Path, owner: subprocess.Popen[str]
) -> None:
    owner.kill()
    owner.wait()
    assert len(list(place.iterdir())) == 10
    with scratch("test") as folder:
        assert list(place.iterdir()) == [folder]


def test_what_a_living_process_needs_stays(place: Path, owner: subprocess.Popen[str]) -> None:
    with scratch("test") as folder:
        sweep()
        assert len(list(place.iterdir())) == 11
        assert folder.exists()
    assert len(list(place.iterdir())) == 10
    owner.communicate()
    assert list(place.iterdir()) == []


def test_two_may_sweep_at_once(place: Path, owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.wait()
    both, failed = threading.Barrier(2), []

    def begin_together() -> None:
        both.wait()
        try:
            sweep()
        except BaseException as error:
            failed.append(error)

    sweepers = [threading.Thread(target=begin_together) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    for sweeper in sweepers:
        sweeper.join()
    assert failed == []
    assert list(place.iterdir()) == []


def test_a_folder_of_whom_nobody_can_tell_stays(
    place: Path, owner: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = next(place.iterdir())
    dead = f".{began(owner.pid)}."
    assert dead in made.name
    made.with_name("mmcache-test-abcdefgh").mkdir()
    made.with_name(made.name.replace(dead, ".0.")).mkdir()
    made.with_name(f"mmcache-test-{os.getpid()}.1.00000000-abcdefgh").mkdir()
    made.with_name(f"mmcache-test-{os.getpid()}.1.{made.name.split('.')[2]}").symlink_to(place)
    before = set(place.iterdir())
    sweep()
    assert set(place.iterdir()) == before
    owner.kill()
    owner.wait()
    monkeypatch.setattr(os, "geteuid", lambda: made.stat().st_uid + 1)
    sweep()
    assert set(place.iterdir()) == before


@pytest.mark.skipif(not began(os.getpid()), reason="this system does not show when a process began")
def test_who_has_the_id_of_a_dead_owner_does_not_own_its_folders(place: Path) -> None:
    with scratch("test") as folder:
        reused = folder.with_name(folder.name.replace(f".{began(os.getpid())}.", ".1."))
        reused.mkdir()
        sweep()
        assert list(place.iterdir()) == [folder]
