"""TLC's distributed mode: one server, which has the states, and workers, which make their successors.

Workers that find the same new state at the same time both expand it, so the number of states generated varies
from run to run, and so does the depth; the number of distinct states does not. Liveness is not checked. Of a
violation this mode tells the last step alone, and not which property it violates.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.tlc.output import Checked, Reader
from mmcache_ref.tlc.runner import Job, java_command, prepare, running
from mmcache_ref.tlc.tools import java, tla2tools

READY: Final = "TLC server at "
"""What the server says when workers may come."""
PORT: Final = "-Dtlc2.tool.distributed.TLCServer.port={}"
HOST: Final = "-Djava.rmi.server.hostname={}"
LOOPBACK: Final = "127.0.0.1"


def run_distributed(
    job: Job,
    *,
    workers: int,
    host: str = LOOPBACK,
    progress: Callable[[Checked], None] = lambda so_far: None,
    ready: Callable[[str], None] = lambda command: None,
) -> Checked:
    """Check a model with one server and so many worker processes on this machine, of one thread each.

    `ready` is told the command by which more workers join, from any machine that reaches `host`.
    """
    started = time.monotonic()
    port = free_port(host)
    reader = Reader(progress=progress)
    with ExitStack() as stack:
        folder = stack.enter_context(scratch("tlc"))
        config = prepare(job, folder)
        command = [
            *java_command(job, folder),
            PORT.format(port),
            HOST.format(host),
            "tlc2.tool.distributed.TLCServer",
            "-tool",
            *("-metadir", str(folder / "states"), "-config", config.name),
            *(["-deadlock"] if job.ends_early else []),
            job.module.stem,
        ]
        process, is_late = stack.enter_context(running(command, folder, job.seconds))
        assert process.stdout is not None

        def lines(printed: Iterator[str]) -> Iterator[str]:
            for line in printed:
                if line.startswith(READY):
                    ready(" ".join(worker_command(host, port)))
                    for _ in range(workers):
                        _start_worker(stack, job, host, port)
                yield line

        found = reader.read(lines(iter(process.stdout)))
        process.wait()
    found.seconds = time.monotonic() - started
    if is_late.is_set():
        found.result = "undetermined"
        found.errors.append(f"stopped after {job.seconds:g} s")
    elif found.trace:
        found.result = "safety failure"
    elif not reader.is_finished:
        found.result = "error"
        found.errors.append(f"the server ended with exit code {process.returncode}")
    return found


def worker_command(host: str, port: int) -> list[str]:
    """The command line of a worker on another machine."""
    return [str(java().path), PORT.format(port), *_worker(host)]


def free_port(host: str) -> int:
    """A port that nobody listens on."""
    with socket.socket() as listening:
        listening.bind((host, 0))
        number: int = listening.getsockname()[1]
        return number


def _worker(host: str) -> list[str]:
    return ["-cp", str(tla2tools().path), "tlc2.tool.distributed.TLCWorker", host]


def _start_worker(stack: ExitStack, job: Job, host: str, port: int) -> None:
    """A worker in a folder of its own, which ends with the server, or with the stack."""
    folder = stack.enter_context(scratch("tlc"))
    command = [
        *java_command(job, folder)[:-2],
        PORT.format(port),
        HOST.format(host),
        "-Dtlc2.tool.distributed.TLCWorker.threadCount=1",
        *_worker(host),
    ]
    stack.enter_context(running(command, folder, job.seconds, stdout=subprocess.DEVNULL))
