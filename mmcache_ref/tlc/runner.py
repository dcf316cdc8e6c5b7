"""Runs TLC on one model, in a process of its own that always ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.tlc.output import Checked, Reader
from mmcache_ref.tlc.tools import java, tla2tools

HEAP_MIB: Final = 2048
FINGERPRINT: Final = 0
"""The polynomial that states are hashed with: always the same, so that a run can be repeated."""
ERRORS_SHOWN: Final = 12
"""Lines of what TLC says when it cannot read a module."""
COURSE: Final = ('"', "Parsing file", "Semantic processing")
"""How lines begin that tell of no error."""
VIEW: Final = re.compile(r"^VIEW \w+$", re.MULTILINE)
OUTLIVED_BY_NOBODY: Final = """
exec 3<&0
"$@" <&- 3<&- &
child=$!
( cat <&3; kill -9 $child ) >/dev/null 2>&1 &
watcher=$!
wait $child
code=$?
kill $watcher 2>/dev/null
exit $code
"""
"""Runs a command that is killed when the input ends: when whoever started it is gone, however that went."""
STOPPED_SECONDS: Final = 5.0
"""A killed process is gone long before."""
_running: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True)
class Job:
    """A model to check: the module, its configuration, and how much TLC may use.

    `more` are lines for the end of the configuration; `view` stands in place of its own;
    `ends_early`: a state without a successor is no error;
    `coverage` costs time, and tells how often each action was taken; `is_short`: it is over before a thorough
    compilation of TLC would pay.
    """

    module: Path
    config: Path
    more: tuple[str, ...] = ()
    view: str | None = None
    ends_early: bool = False
    coverage: bool = False
    is_short: bool = False
    workers: int = 1
    seconds: float = 600
    heap_mib: int = HEAP_MIB
    options: tuple[str, ...] = ()


def run(
    job: Job,
    *,
    printed: Callable[[str], None] = lambda line: None,
    progress: Callable[[Checked], None] = lambda so_far: None,
) -> Checked:
    """Check the model; *undetermined* when the time is over, *error* when TLC cannot read or run it."""
    started = time.monotonic()
    rest: list[str] = []

    def other(line: str) -> None:
        printed(line)
        if line.strip() and not line.startswith(COURSE):
            rest.append(line)
            del rest[:-ERRORS_SHOWN]

    reader = Reader(other, progress)
    with scratch("tlc") as folder:
        command = single_command(job, folder)
        try:
            with running(command, folder, job.seconds) as (process, is_late):
                assert process.stdout is not None
                found = reader.read(process.stdout)
                found.processor_seconds = _ended(process)
        except OSError as error:
            return Checked("error", errors=[f"TLC could not be started: {error}"])
    found.seconds = time.monotonic() - started
    if is_late.is_set():
        found.result = "undetermined"
        found.errors.append(f"stopped after {job.seconds:g} s")
    elif not reader.is_finished:
        found.result = "error"
        found.errors += rest or [f"TLC ended with exit code {process.returncode}"]
    return found


def single_command(job: Job, folder: Path) -> list[str]:
    """The command line of a run in one process."""
    config = prepare(job, folder)
    command = java_command(job, folder)
    command += ["tlc2.TLC", "-tool", "-fp", str(FINGERPRINT), "-workers", str(job.workers)]
    command += ["-metadir", str(folder / "states"), "-config", config.name]
    command += ["-lncheck", "final"]  # liveness once, at the end: else the counts depend on the clock
    if job.ends_early:
        command.append("-deadlock")
    if job.coverage:
        command += ["-coverage", "60"]
    return [*command, *job.options, job.module.name]


def prepare(job: Job, folder: Path) -> Path:
    """The modules, copied, and the configuration with what is added to it: TLC looks for both, and leaves its
    own modules, in one folder."""
    for module in job.module.parent.glob("*.tla"):
        shutil.copy(module, folder)
    config = folder / "model.cfg"
    text = job.config.read_text(encoding="utf-8")
    if job.view is not None:
        text = VIEW.sub(f"VIEW {job.view}", text)
    config.write_text(text + "".join(f"{line}\n" for line in job.more), encoding="utf-8")
    return config


def java_command(job: Job, folder: Path) -> list[str]:
    """Java with TLC's jar, up to the class that is run."""
    collector = "-XX:+UseSerialGC" if job.workers == 1 else "-XX:+UseParallelGC"
    command = [str(java().path), f"-Xmx{job.heap_mib}m", collector, f"-Djava.io.tmpdir={folder}"]
    if job.is_short:
        command.append("-XX:TieredStopAtLevel=1")
    return [*command, "-cp", str(tla2tools().path)]


@contextmanager
def running(
    command: list[str], folder: Path, seconds: float, stdout: int = subprocess.PIPE
) -> Iterator[tuple[subprocess.Popen[str], threading.Event]]:
    """The running TLC, and whether its time is over; it is killed however the block is left, and when this
    process dies."""
    try:
        process = _start(command, folder, stdout)
    except OSError:  # once more: a machine at its limits refuses for a moment
        process = _start(command, folder, stdout)
    _running.add(process)
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        _kill(process)

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    try:
        yield process, is_late
    finally:
        clock.cancel()
        _kill(process)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        _running.discard(process)


def _start(command: list[str], folder: Path, stdout: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["/bin/sh", "-c", OUTLIVED_BY_NOBODY, "tlc", *command],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )


def stop_all() -> None:
    """End every TLC that was started here, at an interruption: the threads that wait for them may not come to
    it any more."""
    for process in list(_running):
        _kill(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOPPED_SECONDS)


def _ended(process: subprocess.Popen[str]) -> float:
    """Wait for the end; how long the processors worked for it."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # whoever stopped it has waited for it
        process.wait()
        return 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _kill(process: subprocess.Popen[str]) -> None:
    """End the process and what it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
