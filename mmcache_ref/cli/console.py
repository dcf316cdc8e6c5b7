"""What the commands share: the application, two consoles, progress, targets, and how a command leaves."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console, RenderableType
from rich.progress import Progress, TaskID, TextColumn, TimeElapsedColumn

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.supervisor import rehearse
from mmcache_ref.oracle.targets import check_target, resolve
from mmcache_ref.oracle.verdict import EXIT_CODES

USAGE, BAD_RUN = 1, 4
"""Exit codes besides those of a verdict."""
SECONDS_BETWEEN_LINES = 30.0
"""Seldom enough that the log of a command of minutes stays short."""

app = typer.Typer(
    help="The executable specification of vLLM's multi-modal cache protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)


def fail(message: str, code: int) -> NoReturn:
    """Say why on stderr and leave."""
    messages.print(f"mmcache-ref: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(code)


def known_targets(targets: Iterable[str]) -> None:
    """A usage error for a target that is of no kind."""
    try:
        for target in targets:
            check_target(target)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def namespace_of(target: str) -> Namespace:
    """What a target offers; where it cannot be had, say why and leave."""
    try:
        rehearse(target)
        return resolve(target)
    except TargetUnavailable as error:
        fail(str(error), EXIT_CODES["undetermined"])


def made_folder(folder: Path) -> None:
    """Make a folder that is written into at the end; a usage error now where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot write into {folder}: {error.strerror or error}") from None


def show(report: str | RenderableType) -> None:
    """A report on stdout: text for machines as it is, anything else drawn."""
    if isinstance(report, str):
        sys.stdout.write(report)
    else:
        output.print(report, crop=False)


class ProgressLines(Progress):
    """A line for each target on stderr; where that is no terminal, its news every `SECONDS_BETWEEN_LINES`."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), TextColumn("{task.fields[what]}"), TimeElapsedColumn())
        super().__init__(*columns, console=messages, transient=True, disable=not messages.is_terminal)
        self._told = self.get_time()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change what a line says."""
        super().update(task_id, **changes)
        if self.disable and self.get_time() >= self._told + SECONDS_BETWEEN_LINES:
            self._told = self.get_time()
            task = self._tasks[task_id]
            messages.print(f"{task.description}: {task.fields['what']}", markup=False, soft_wrap=True)


Accidents = Annotated[
    list[str] | None,
    typer.Option("--with", help="Accidents, with commas between, or all; n2 is fan-out. May be repeated."),
]
"""The option of commands in which accidents happen."""


def listed_names(lists: list[str] | None) -> list[str]:
    """The names in lists with commas."""
    return [name.strip() for name in ",".join(lists or ()).split(",") if name.strip()]


def known_elsewhere(names: list[str], here: Any, others: Mapping[str, Any]) -> str:
    """Which accidents that a model does not have others have, each by what one asks for to get it."""
    strange = [name for name in names if name not in _accidents_of(here)]
    found = {
        asked: [name for name in strange if name in _accidents_of(each)] for asked, each in others.items()
    }
    return "".join(f" {asked} has {', '.join(there)}." for asked, there in found.items() if there)


def _accidents_of(model: Any) -> set[str]:
    """What the accidents of a model are called; nothing of a model that has none."""
    return {*getattr(model, "ACCIDENTS", ()), *getattr(model, "SYNONYMS", ())}
