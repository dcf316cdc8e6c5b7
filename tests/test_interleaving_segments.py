"""Two that want the name of a dead writer's segment: every schedule of their lines, up to two preemptions.

The reference's file locks are those of processes; here threads take their turns, so the scheduler's lock
stands for each.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mmcache_ref.oracle.interleaving.explore import explore
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution
from mmcache_ref.oracle.interleaving.tracing import Tracer
from mmcache_ref.reference import segments
from mmcache_ref.reference.segment_owners import MAGIC, RECORD, SECRET_BYTES, _namespace

pytestmark = pytest.mark.skipif(
    not segments.SHOWN_IN.is_dir(), reason="this system does not show its shared memory"
)

CAPACITY = 8
SIZE = SECRET_BYTES + CAPACITY


class Files:
    """`os.close` and `fcntl.flock` of threads that take turns: a lock goes with the descriptor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.execution: Execution | None = None
        self._locks: dict[int, CooperativeLock] = {}
        self._held: dict[int, CooperativeLock] = {}
        monkeypatch.setattr(segments, "os", SimpleNamespace(**{**vars(os), "close": self.close}))
        monkeypatch.setattr(segments, "fcntl", SimpleNamespace(**{**vars(fcntl), "flock": self.flock}))

    def flock(self, descriptor: int, how: int) -> None:
        lock = self._locks.setdefault(os.fstat(descriptor).st_ino, CooperativeLock())
        lock.execution = self.execution
        lock.acquire()
        self._held[descriptor] = lock

    def close(self, descriptor: int) -> None:
        if lock := self._held.pop(descriptor, None):
            lock.release()
        os.close(descriptor)


class Ended(NamedTuple):
    """What became of two who wanted the name: those who got it, and whose it is in the end."""

    winners: int
    name_is_of: str


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody else uses."""
    unique = f"mmcache-test-{secrets.token_hex(6)}"
    yield unique
    with suppress(FileNotFoundError):
        (segments.SHOWN_IN / unique).unlink()


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    return Files(monkeypatch)


def create(name: str) -> Any:
    """What a writer gets that starts again under its name."""
    try:
        return segments.create(SIZE, name)
    except FileExistsError:
        return None


def clean(name: str) -> None:
    """What `mmcache-ref shm clean` does with one name."""
    segments.remove_if_stale(name)


def outcomes(
    files: Files, name: str, works: Collection[Callable[[str], Any]], preemptions: int
) -> Iterator[tuple[int, Ended]]:
    """The preemptions of each schedule of these works, and how it ends."""
    tracer = Tracer({segments.__file__, __file__}, shares_objects=True)
    file = segments.SHOWN_IN / name
    ended: list[Ended] = []

    def seen() -> bytes:
        try:
            found = file.stat()
        except FileNotFoundError:
            return b""
        return f"{found.st_ino} {found.st_size}".encode()

    def run(choose: Choose) -> Execution:
        dead = RECORD.pack(MAGIC, CAPACITY, os.getpid(), 1, _namespace())
        file.write_bytes(bytes(SIZE) + dead)
        execution = Execution([work.__name__ for work in works], choose, seen)
        files.execution = execution
        got: list[Any] = []
        bodies = [tracer.body(execution, lambda work=work: got.append(work(name))) for work in works]
        execution.run(bodies)
        files.execution = None
        assert not execution.problem
        assert not execution.is_deadlocked
        made = [each for each in got if each is not None]
        ended[:] = [Ended(len(made), whose(made))]
        for each in made:
            each.close()
        return execution

    def whose(made: list[Any]) -> str:
        for number, each in enumerate(made):
            each.buf[0] = number + 1
        if not file.exists():
            return "nobody"
        first = file.read_bytes()[0]
        return "a winner" if first else "the dead"

    for node, _ in explore(run, preemptions):
        yield node.preemptions, ended[0]


def wrong(
    files: Files, name: str, works: Collection[Callable[[str], Any]], preemptions: int
) -> tuple[int, Ended] | None:
    """The first schedule in which not exactly one has the name, with its preemptions."""
    right = Ended(1, "a winner")
    return next((each for each in outcomes(files, name, works, preemptions) if each[1] != right), None)


ALL = pytest.mark.parametrize("preemptions", [1, pytest.param(2, marks=pytest.mark.slow)])


@ALL
@pytest.mark.clause("RB-35")
def test_of_two_that_start_again_exactly_one_gets_the_name(files: Files, name: str, preemptions: int) -> None:
    assert wrong(files, name, [create, create], preemptions) is None


@ALL
@pytest.mark.clause("RB-35", "RB-37")
def test_who_cleans_up_takes_no_name_from_a_writer_that_starts_again(
    files: Files, name: str, preemptions: int
) -> None:
    assert wrong(files, name, [clean, create], preemptions) is None


def without_a_lock(name: str) -> bool:
    with suppress(FileNotFoundError), segments._opened(name) as descriptor:
        if segments._is_stale(name, descriptor) and segments._leads_to(name, descriptor):
            return unlink(name)
    return False


def without_a_second_look(name: str) -> bool:
    with suppress(FileNotFoundError), segments._opened(name) as descriptor:
        segments.fcntl.flock(descriptor, fcntl.LOCK_EX)
        if segments._is_stale(name, descriptor):
            return unlink(name)
    return False


def with_the_lock_too_late(name: str) -> bool:
    with suppress(FileNotFoundError), segments._opened(name) as descriptor:
        if segments._is_stale(name, descriptor) and segments._leads_to(name, descriptor):
            segments.fcntl.flock(descriptor, fcntl.LOCK_EX)
            return unlink(name)
    return False


def unlink(name: str) -> bool:
    (segments.SHOWN_IN / name).unlink()
    return True


@pytest.mark.clause("RB-35", "RB-37")
@pytest.mark.parametrize("other", [create, clean])
@pytest.mark.parametrize("removes", [without_a_lock, without_a_second_look, with_the_lock_too_late])
def test_who_removes_a_dead_writers_name_must_look_again_under_a_lock(
    files: Files, name: str, removes: Callable[[str], bool], other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "remove_if_stale", removes)
    found = wrong(files, name, [other, create], 1)
    assert found is not None
    preemptions, ended = found
    assert preemptions == 1
    # Two have it, and one knows nothing of it; or nobody can attach to the one that has it.
    assert ended in (Ended(2, "a winner"), Ended(1, "nobody"))
