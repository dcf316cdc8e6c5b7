"""The entry point of the command."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import typer

from mmcache_ref.cli import INTERRUPTED
from mmcache_ref.cli.about import schema, version
from mmcache_ref.cli.bench import bench
from mmcache_ref.cli.console import USAGE, app, messages
from mmcache_ref.cli.exploring import explore_model
from mmcache_ref.cli.hunting import hunt_faults
from mmcache_ref.cli.interleaving import interleave_target
from mmcache_ref.cli.interop import interop
from mmcache_ref.cli.judging import conform, replay
from mmcache_ref.cli.mishaps import soak_target
from mmcache_ref.cli.models import check_models
from mmcache_ref.cli.reading import faults, show_clauses
from mmcache_ref.cli.sharing import shm
from mmcache_ref.cli.simulating import simulate_target
from mmcache_ref.cli.tracing import trace
from mmcache_ref.oracle.scratch import remove_scratch
from mmcache_ref.oracle.supervisor import stop

COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "conform": conform,
    "replay": replay,
    "explore": explore_model,
    "models": check_models,
    "clauses": show_clauses,
    "faults": faults,
    "hunt": hunt_faults,
    "interleave": interleave_target,
    "interop": interop,
    "simulate": simulate_target,
    "soak": soak_target,
    "trace": trace,
    "bench": bench,
    "shm": shm,
    "schema": schema,
    "version": version,
}
"""In the order of the help."""

for name, command in COMMANDS.items():
    app.command(name)(command)

USAGE_ERROR: Any = typer.BadParameter.__base__
"""Where this class lives differs between releases of typer."""


def main() -> NoReturn:
    """Run the command; usage errors exit with 1, since 2 says that a target violates."""
    _escape_what_cannot_be_printed()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # into which some releases of typer turn the exception
            raise KeyboardInterrupt
        sys.exit(code)
    except USAGE_ERROR as error:
        error.show()
        sys.exit(USAGE)
    except OSError as error:  # a full disk, a pipe that nobody reads
        stop()
        remove_scratch()
        messages.print(f"mmcache-ref: cannot write or read: {error}", markup=False)
        os._exit(USAGE)  # what is left in the buffer of stdout would fail once more
    except (typer.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        stop()
        remove_scratch()
        messages.print("mmcache-ref: interrupted")
        os._exit(INTERRUPTED)  # threads that wait for a worker are not waited for


def _escape_what_cannot_be_printed() -> None:
    """Where the terminal's encoding lacks a character, print its escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
