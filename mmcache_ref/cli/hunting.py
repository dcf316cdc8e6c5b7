"""`mmcache-ref hunt`: the oracle's own power."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mmcache_ref import __version__
from mmcache_ref.cli.console import ProgressLines, fail, made_folder, show
from mmcache_ref.cli.reading import fault_names
from mmcache_ref.oracle.hunt import hunt
from mmcache_ref.oracle.hunting import WorkerLost, perform_all, tasks
from mmcache_ref.oracle.regressions import store_runs
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.hunt import hunt_json, hunt_markdown, hunt_text


def hunt_faults(
    names: Annotated[
        list[str] | None, typer.Argument(help="Faults by name; all of them unless given.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Fuzz from so many seeds: 0, 1, 2 and so on.")] = 100,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 2,
    output_format: Annotated[Literal["text", "json", "markdown"], typer.Option("--format")] = "text",
    store: Annotated[
        Path | None, typer.Option(help="Also write the shortest run of each fault into this folder.")
    ] = None,
) -> None:
    """Measure how surely and how soon each seeded fault is found.

    It says which technique finds which fault, how soon, and in how short a run.

    Exits with 2 when a demand fails: see the last lines. All faults from 10 seeds take some minutes, from
    100 about ten times as long. Progress is shown on stderr where that is a terminal, and nowhere else.

    Example: mmcache-ref hunt D06 D09 --seeds 10
    """
    if store is not None:
        made_folder(store)
    planned = tasks(fault_names(names or []), seeds)
    with ProgressLines() as progress:
        line = progress.add_task("hunt", what=f"0 of {len(planned)} tasks")
        done = 0

        def observe(part: Any) -> None:
            nonlocal done
            done += 1
            progress.update(line, what=f"{done} of {len(planned)} tasks, last {part.fault} {part.technique}")

        try:
            found = hunt(__version__, seeds, perform_all(planned, jobs, observe))
        except WorkerLost as error:
            fail(str(error), EXIT_CODES["undetermined"])
    if store is not None:
        store_runs(found, store)
    show({"text": hunt_text, "json": hunt_json, "markdown": hunt_markdown}[output_format](found))
    raise typer.Exit(0 if found.is_kept else EXIT_CODES["violates"])
