"""Every mutant in a process of its own, forked from one that has imported everything else."""

from __future__ import annotations

import gc
import os
import resource
import selectors
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from mmcache_ref.oracle import segments

CPU_SECONDS: Final = 240
"""CPU time of one process; a surviving mutant takes about 40 s."""
WALL_SECONDS: Final = 900.0
"""A process that waits for something that never comes is ended then."""
MEMORY_BYTES: Final = 4 << 30
"""What a process may allocate beyond what it shares."""


class Ended(msgspec.Struct, frozen=True):
    """A process that gave no answer: why, and the CPU seconds of its limit or the code it ended with."""

    why: str


@dataclass
class _Child:
    job: int
    pid: int
    deadline: float
    answer: bytearray


def run_forked(
    jobs: Sequence[Callable[[], Any]], *, processes: int, wall_seconds: float = WALL_SECONDS
) -> Iterator[tuple[int, Any]]:
    """Call each job in a forked process, `processes` at a time; its number and what it returned, as it ends.

    What a job returns must be something that msgspec can encode. A process that is killed, runs out of time
    or raises gives `Ended`. Whatever happens here, no process is left behind.
    """
    _prepare_to_fork()
    waiting = deque(range(len(jobs)))
    selector = selectors.DefaultSelector()
    children: dict[int, _Child] = {}
    try:
        while waiting or children:
            while waiting and len(children) < processes:
                number = waiting.popleft()
                pid, descriptor = _fork(jobs[number], [*children])
                children[descriptor] = _Child(number, pid, time.monotonic() + wall_seconds, bytearray())
                selector.register(descriptor, selectors.EVENT_READ)
            for key, _ in selector.select(timeout=1.0):
                child = children[key.fd]
                data = os.read(key.fd, 1 << 16)
                child.answer += data
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    del children[key.fd]
                    yield child.job, _result(child)
            for child in children.values():
                if time.monotonic() > child.deadline:
                    os.kill(child.pid, signal.SIGKILL)
    finally:
        for descriptor, child in children.items():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            segments.remove_all_of(child.pid)
            os.close(descriptor)
        selector.close()


def _prepare_to_fork() -> None:
    """Objects that exist now are left alone by the collectors of the children, and stay shared."""
    gc.collect()
    gc.freeze()


def _fork(job: Callable[[], Any], others: Sequence[int]) -> tuple[int, int]:
    """Start a process; its id, and the end of a pipe from which its answer can be read."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        for descriptor in (reading, *others):
            os.close(descriptor)
        _limit()
        _silence()
        answer = msgspec.json.encode(job())
        while answer:
            answer = answer[os.write(writing, answer) :]
        code = 0
    except BaseException as error:
        with suppress(BaseException):
            os.write(writing, f"!{type(error).__name__}: {error}".encode()[:2000])
    finally:
        with suppress(BaseException):
            segments.close_all()
        os._exit(code)


def _limit() -> None:
    """A process must end by itself even when this one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _silence() -> None:
    """What a mutant prints or logs is nobody's."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _result(child: _Child) -> Any:
    _, status = os.waitpid(child.pid, 0)
    segments.remove_all_of(child.pid)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return msgspec.json.decode(bytes(child.answer))
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Ended(f"no answer within {CPU_SECONDS} s of CPU time")
    said = child.answer.decode("utf-8", "replace").removeprefix("!")
    return Ended(said or f"the process ended with code {code}")
