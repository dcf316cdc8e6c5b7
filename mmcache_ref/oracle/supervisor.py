"""Judging in a process of its own: a target that crashes or blocks costs its verdict, not the oracle."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.causes import with_causes
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.fatal import fatal_run, fatal_verdict, shrunk
from mmcache_ref.oracle.journal import read_journal
from mmcache_ref.oracle.own_time import OwnTime
from mmcache_ref.oracle.run import Profile, Run
from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.oracle.stored import decode_verdict, encode_run, typed
from mmcache_ref.oracle.suite import Options
from mmcache_ref.oracle.verdict import ComponentVerdict, TargetVerdict
from mmcache_ref.oracle.worker import (
    Judged,
    Message,
    OracleFailed,
    Progressed,
    Ready,
    Replayed,
    Request,
    Unavailable,
)

DOWNLOAD_SECONDS: Final = 900.0
"""A published release may be downloaded while it is loaded."""
LOADING_SECONDS: Final = 120.0
"""Any other target has only to be imported."""
SILENCE_SECONDS: Final = 30.0
"""A worker that says nothing for so long is blocked inside the target. It is the worker's own time: what it
computes and what it sleeps, not what it waits for a processor. So a loaded machine ends no judgement."""
PATIENCE_SECONDS: Final = 5.0
"""The same, where one short run is repeated to find out what of it matters."""
LOOK_SECONDS: Final = 0.1
"""At least so much time lies between two looks at how long a worker has been silent."""
STDERR_TAIL: Final = 2000
"""Bytes of a dead worker's stderr that the reason quotes."""

Observer = Callable[[str, Message], None]
"""Called with the target and each message of its worker."""


class WorkerDied(Exception):  # noqa: N818 - reads as what it is
    """The worker ended or was stopped before it was done; `is_blocked` tells which."""

    def __init__(self, component: str | None, *, is_blocked: bool, detail: str) -> None:
        self.component = component
        self.is_blocked = is_blocked
        self.detail = detail
        super().__init__(detail)


def judge_target(
    target: str,
    options: Options,
    *,
    observer: Observer = lambda target, message: None,
    silence: float = SILENCE_SECONDS,
    command: str = "",
) -> TargetVerdict:
    """Judge the components in turn. When the process dies in one, that one is repeated with a journal to
    learn the run, and the others go on in a new process."""
    segments.sweep()
    started = time.monotonic()
    verdicts: dict[str, ComponentVerdict] = {}
    while remaining := tuple(name for name in options.components if name not in verdicts):
        share = options.seconds * len(remaining) / len(options.components)
        request = Request(target, msgspec.structs.replace(options, components=remaining, seconds=share))
        try:
            for message in _messages(request, silence):
                observer(target, message)
                if isinstance(message, Judged):
                    verdicts[message.component] = decode_verdict(bytes(message.verdict))
                elif isinstance(message, OracleFailed):
                    reason = f"the oracle itself failed, please report it: {message.detail}"
                    verdicts[message.component] = ComponentVerdict(
                        message.component, "undetermined", reason=reason
                    )
                elif isinstance(message, Unavailable):
                    for name in remaining:
                        verdicts[name] = ComponentVerdict(name, "undetermined", reason=message.reason)
        except WorkerDied as death:
            fatal = death.component
            if fatal is not None:
                verdicts[fatal] = _repeat_with_journal(target, options, fatal, death, silence)
            else:
                for name in remaining:
                    verdicts[name] = ComponentVerdict(name, "undetermined", reason=death.detail)
    ordered = with_causes([verdicts[name] for name in options.components])
    seconds = round(time.monotonic() - started, 2)
    return TargetVerdict(target, options.profile, options.seed, seconds, ordered, command)


def _repeat_with_journal(
    target: str, options: Options, component: str, death: WorkerDied, silence: float
) -> ComponentVerdict:
    """The verdict on a component in which the worker died: its run, if it dies again."""
    share = options.seconds / len(options.components)
    alone = msgspec.structs.replace(options, components=(component,), seconds=share)
    done: Progressed | None = None
    with _journal_folder() as path:
        try:
            for message in _messages(Request(target, alone, str(path)), silence):
                if isinstance(message, Progressed):
                    done = message
                if isinstance(message, Judged):
                    reason = f"{death.detail}; it did not happen again when the judgement was repeated"
                    return ComponentVerdict(component, "undetermined", reason=reason)
        except WorkerDied as again:
            run = _fatal_run(component, options.profile, again, path)
            if run is not None:
                return fatal_verdict(_shrunk(target, run), again.detail, done)
        return ComponentVerdict(component, "undetermined", reason=death.detail)


def replay_run(target: str, run: Run, *, silence: float = SILENCE_SECONDS) -> Run:
    """The run, repeated on the target in a process of its own; `TargetUnavailable` where that cannot be."""
    with _journal_folder() as path:
        try:
            return _replayed(target, run, path, silence)
        except WorkerDied as death:
            fatal = _fatal_run(run.component, run.profile, death, path)
            if fatal is not None:
                return fatal
            raise TargetUnavailable(death.detail) from death


def rehearse(target: str) -> None:
    """Load a target that is somebody's module in a process of its own, before this one does: a module may end
    the process that imports it, or never come back. `TargetUnavailable` with the reason."""
    if not target.startswith("py:"):
        return
    try:
        for message in _messages(Request(target, Options(components=())), SILENCE_SECONDS):
            if isinstance(message, Unavailable):
                raise TargetUnavailable(message.reason)
            if isinstance(message, Ready):
                return
    except WorkerDied as death:
        raise TargetUnavailable(f"{target}: {death.detail}") from None


def _replayed(target: str, run: Run, journal: Path, silence: float) -> Run:
    """The run as a worker repeats it; `WorkerDied` where it does not survive that."""
    request = Request(target, Options(components=(run.component,)), str(journal), encode_run(run))
    for message in _messages(request, silence):
        if isinstance(message, Replayed):
            return typed(msgspec.json.decode(message.run, type=Run))
        if isinstance(message, Unavailable):
            raise TargetUnavailable(message.reason)
    raise TargetUnavailable("the target was not judged")


def _ends_alike(one: Run, other: Run) -> bool:
    """Do both break the same clause?"""
    return (
        one.mismatch is not None
        and other.mismatch is not None
        and one.mismatch.clause == other.mismatch.clause
    )


def _shrunk(target: str, run: Run) -> Run:
    """A shorter run with the same end, where one is found soon."""

    def repeat(candidate: Run) -> Run | None:
        with _journal_folder() as path:
            try:
                _replayed(target, candidate, path, PATIENCE_SECONDS)
            except WorkerDied as again:
                fatal = _fatal_run(run.component, run.profile, again, path)
                return fatal if fatal is not None and _ends_alike(fatal, run) else None
            except TargetUnavailable:
                return None
        return None

    return shrunk(run, repeat)


@contextlib.contextmanager
def _journal_folder() -> Iterator[Path]:
    """A path for the journal of one worker."""
    with scratch("journal") as folder:
        yield folder / "journal"


def _fatal_run(component: str, profile: Profile, death: WorkerDied, path: Path) -> Run | None:
    """The run that a worker's journal tells of; None when no operation was begun."""
    model = COMPONENTS[component].model
    journal = read_journal(path, model.Config, model.Operation)
    if journal is None:
        return None
    config, operations = journal
    return fatal_run(component, profile, config, operations, is_blocked=death.is_blocked, detail=death.detail)


def _messages(request: Request, silence: float) -> Iterator[Message]:
    """The messages of one worker; `WorkerDied` when it ends early or falls silent."""
    component: str | None = None
    is_loaded = is_done = False
    with tempfile.TemporaryFile() as stderr, _worker(stderr) as process:
        lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(request))
            process.stdin.close()
        limit = DOWNLOAD_SECONDS if request.target.startswith("vllm@") else LOADING_SECONDS
        while True:
            try:
                line = _next_line(lines, OwnTime(process.pid), limit)
            except TimeoutError:
                where = "an operation" if is_loaded else "its import"
                detail = f"the target did not come back from {where} within {limit:.0f} s"
                raise WorkerDied(component, is_blocked=True, detail=detail) from None
            if line is None:
                break
            message = msgspec.json.decode(line, type=Message)
            if isinstance(message, Ready):
                limit, is_loaded = silence, True
            elif isinstance(message, Progressed):
                component = message.component
            is_done = isinstance(message, Unavailable | Replayed) or (
                isinstance(message, Judged | OracleFailed)
                and message.component == request.options.components[-1]
            )
            yield message
            if is_done:
                # A child that the target forked may hold the pipe open: do not wait for its end.
                return
        code = process.wait()
        if not is_done:
            detail = ("" if is_loaded else "while it was loaded, ") + _obituary(code, stderr)
            raise WorkerDied(component, is_blocked=False, detail=detail)


def _next_line(lines: queue.Queue[bytes | None], silent: OwnTime, limit: float) -> bytes | None:
    """What comes next of a worker; `TimeoutError` after so many seconds of its own time without anything."""
    while (left := limit - silent.seconds()) > 0:
        with contextlib.suppress(queue.Empty):
            return lines.get(timeout=max(left, LOOK_SECONDS))
    raise TimeoutError


class Stopped(Exception):  # noqa: N818 - reads as what it is
    """The judgement was called off."""


_running: set[subprocess.Popen[bytes]] = set()
_is_stopped = threading.Event()


def stop() -> None:
    """Call off every judgement of this process, from whatever thread: no worker remains."""
    _is_stopped.set()
    for process in tuple(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def _worker(stderr: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process in a group of its own, gone when the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mmcache_ref.oracle.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_folders_of_modules())},
        start_new_session=True,
    )
    _running.add(process)
    try:
        if _is_stopped.is_set():
            raise Stopped
        yield process
    except WorkerDied:
        if _is_stopped.is_set():
            raise Stopped from None
        raise
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        segments.remove_all_of(process.pid)
        _running.discard(process)


def _folders_of_modules() -> list[str]:
    """Where this process looks for modules besides its Python's own folders, and where its environment says:
    a worker looks there, too, as spawned processes do."""
    pythons = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found = [*sys.path, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return [each for each in found if each and not any(Path(each).is_relative_to(own) for own in pythons)]


def _read(stream: IO[bytes] | None, lines: queue.Queue[bytes | None]) -> None:
    assert stream is not None
    for line in stream:
        lines.put(line)
    lines.put(None)


def _obituary(code: int, stderr: IO[bytes]) -> str:
    """How the worker ended, with the end of what it printed."""
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, stderr.tell() - STDERR_TAIL))
    tail = stderr.read().decode(errors="replace").strip().splitlines()
    said = f"; it said: {tail[-1]}" if tail else ""
    return f"the process of the target ended {how}{said}"
