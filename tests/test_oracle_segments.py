"""Segments of judged targets: named by who judges, and removed whatever the target does."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from multiprocessing import shared_memory
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.hunt import Part
from mmcache_ref.oracle.hunting import Task, perform_all

needs_a_folder = pytest.mark.skipif(
    not segments.FOLDER.is_dir(), reason="segments of other processes cannot be listed here"
)


class Owner:
    """Owns segments, as an adapter does."""

    def __init__(self, *closings: Callable[[], object]) -> None:
        self.name = segments.fresh_name()
        self.close = segments.close_with(self, [self.name], list(closings))
        shared_memory.SharedMemory(self.name, create=True, size=8).close()


def test_names_differ_and_are_short_enough_for_every_system() -> None:
    first, second = segments.fresh_name(), segments.fresh_name()
    assert first != second
    assert str(os.getpid()) in first
    assert len(first) <= 30


def test_a_segment_goes_with_its_owner() -> None:
    owner = Owner()
    name = owner.name
    assert segments.exists(name)
    del owner
    assert not segments.exists(name)


def test_a_segment_goes_also_where_closing_raises_and_may_go_early() -> None:
    closed: list[str] = []

    def close_and_raise() -> None:
        closed.append("last")
        raise BufferError

    owner = Owner(lambda: closed.append("first"), close_and_raise)
    owner.close()
    assert closed == ["last", "first"]
    assert not segments.exists(owner.name)
    owner.close()
    assert closed == ["last", "first"]


def test_removing_what_is_not_there_is_nothing() -> None:
    segments.remove(segments.fresh_name())


@pytest.fixture
def killed() -> Iterator[tuple[int, str]]:
    """A process that was killed, and the segment that it left."""
    code = (
        "import os; from multiprocessing import resource_tracker, shared_memory\n"
        "from mmcache_ref.oracle import segments\n"
        "resource_tracker.register = lambda *_: None\n"
        "name = segments.fresh_name()\n"
        "shared_memory.SharedMemory(name, create=True, size=8)\n"
        "print(name, flush=True); os.kill(os.getpid(), 9)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    name = child.communicate()[0].strip()
    yield child.pid, name
    segments.remove(name)


def test_what_a_killed_process_left_is_removed_and_nothing_else(
    killed: tuple[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, name = killed
    monkeypatch.setattr(segments, "FOLDER", tmp_path)  # in /dev/shm whoever judges meanwhile would remove it
    mine = segments.fresh_name()
    for each in (name, mine):
        (tmp_path / each).touch()
    segments.remove_all_of(process)
    assert [path.name for path in tmp_path.iterdir()] == [mine]


@needs_a_folder
def test_whoever_judges_next_sweeps_what_the_dead_left_and_nothing_else(killed: tuple[int, str]) -> None:
    process, name = killed
    mine = Owner()
    elsewhere = shared_memory.SharedMemory(f"mmo{process}.abc-1", create=True, size=8)
    try:
        segments.sweep()
        assert not segments.exists(name)
        assert segments.exists(mine.name)
        assert segments.exists(elsewhere.name)
    finally:
        elsewhere.close()
        elsewhere.unlink()


@needs_a_folder
def test_a_hunt_that_is_called_off_takes_the_segments_of_its_workers_along() -> None:
    with pytest.raises(KeyboardInterrupt):
        perform_all([Task("S08", "fuzz-best"), Task("S08", "fuzz-best", range(50))], 1, called_off)
    workers = {str(process) for process in SEEN}
    assert workers
    left = [path.name for path in segments.FOLDER.iterdir()]
    assert [name for name in left if name.startswith(tuple(f"mmo{process}." for process in workers))] == []


SEEN: set[int] = set()


def called_off(_: Part) -> None:
    """One task of two is done."""
    SEEN.update(process.pid for process in multiprocessing.active_children() if process.pid)
    raise KeyboardInterrupt


KEPT: list[Owner] = []


def keep_one_open(names: Connection) -> None:
    """In a process of its own: what it keeps has nobody who lets it go."""
    KEPT.append(Owner())
    names.send(KEPT[-1].name)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_process_that_ends_takes_its_own_segments_along_and_no_others(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        return
    mine = Owner()
    context = multiprocessing.get_context(method)
    reading, writing = context.Pipe(duplex=False)
    child: Any = context.Process(target=keep_one_open, args=(writing,))  # type: ignore[attr-defined]
    child.start()
    name = reading.recv()
    child.join()
    assert child.exitcode == 0
    assert str(child.pid) in name
    assert not segments.exists(name)
    assert segments.exists(mine.name)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_leaves_what_its_parent_has_open() -> None:
    mine = Owner()
    child = os.fork()
    if not child:
        segments.close_all()
        mine.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert segments.exists(mine.name)
    mine.close()
    assert not segments.exists(mine.name)


def test_all_can_be_closed_at_once() -> None:
    owners = [Owner(), Owner()]
    segments.close_all()
    assert [segments.exists(owner.name) for owner in owners] == [False, False]
