"""The process that judges one target: a request on stdin, messages as JSON lines on stdout.

Whatever the target itself prints goes to stderr, and its log is switched off.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Final

import msgspec

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.guard import end_unless, hang_guard
from mmcache_ref.oracle.journal import Journal
from mmcache_ref.oracle.known_process import end_with_parent
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.oracle.suite import Options, judge
from mmcache_ref.oracle.tally import Tally
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import ComponentVerdict

PROGRESS_SECONDS: Final = 0.5
"""At least so much time lies between two progress messages."""


class Request(msgspec.Struct, frozen=True):
    """What to judge, or the `run` to repeat; `journal` is a path where the run in progress is kept."""

    target: str
    options: Options
    journal: str | None = None
    run: str | None = None


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The target is loaded."""


class Unavailable(msgspec.Struct, frozen=True, tag="unavailable"):
    """The target cannot be loaded."""

    reason: str


class Progressed(msgspec.Struct, frozen=True, tag="progressed"):
    """So many edges or operations of a stage are done.

    Where a journal is kept, also how often each clause was compared so far, and for which that failed.
    """

    component: str
    stage: str
    done: int
    compared: dict[str, int] = {}
    mismatched: tuple[str, ...] = ()


class Judged(msgspec.Struct, frozen=True, tag="judged"):
    """A component is done. Its verdict travels as JSON: its runs hold operations of every component."""

    component: str
    verdict: msgspec.Raw


class Replayed(msgspec.Struct, frozen=True, tag="replayed"):
    """The run was repeated: what it shows now."""

    run: msgspec.Raw


class OracleFailed(msgspec.Struct, frozen=True, tag="oracle_failed"):
    """The oracle itself raised, which says nothing about the target."""

    component: str
    detail: str


Message = Ready | Unavailable | Progressed | Judged | Replayed | OracleFailed


def main() -> None:
    """Judge what the request on stdin asks for."""
    messages = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    logging.disable(logging.CRITICAL)
    end_with_parent()
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)

    def send(message: Message) -> None:
        messages.write(msgspec.json.encode(message) + b"\n")

    try:
        namespace = _resolved(request.target)
    except TargetUnavailable as error:
        send(Unavailable(str(error)))
        return
    send(Ready())
    last = 0.0
    options = request.options
    journal = Journal(Path(request.journal)) if request.journal else None
    tally = Tally()

    def progress(component: str, stage: str, done: int) -> None:
        nonlocal last
        if journal is not None:
            send(Progressed(component, stage, done, dict(tally.clauses), tuple(sorted(tally.mismatched))))
        elif time.monotonic() - last > PROGRESS_SECONDS:
            last = time.monotonic()
            send(Progressed(component, stage, done))

    if request.run is not None:
        try:
            send(Replayed(msgspec.Raw(msgspec.json.encode(_replay(request.run, namespace, journal)))))
        except (Exception, SystemExit) as error:
            send(Unavailable(f"the target cannot be set up: {type(error).__name__}: {error}"))
        return
    for name in options.components:
        send(Progressed(name, "exhaustive", 0))
        tally = Tally()
        try:
            verdict: ComponentVerdict = judge(
                COMPONENTS[name],
                namespace,
                options,
                seconds=options.seconds / len(options.components),
                progress=progress,
                journal=journal,
                tally=tally,
            )
            send(Judged(name, msgspec.Raw(msgspec.json.encode(verdict))))
        except Exception:
            send(OracleFailed(name, traceback.format_exc()))


def _resolved(target: str) -> Any:
    process = os.getpid()
    try:
        return resolve(target)
    finally:
        end_unless(process)


def _replay(text: str, namespace: Any, journal: Journal | None) -> Run:
    """The run, repeated on a fresh target."""
    run = read_run(text)
    with hang_guard() as guard:
        trial = Trial(COMPONENTS[run.component], namespace, run.profile, guard=guard, journal=journal)
        return trial.run(run.config, run.operations)


if __name__ == "__main__":
    main()
