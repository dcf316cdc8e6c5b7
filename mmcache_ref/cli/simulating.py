"""`mmcache-ref simulate`: the caches of a target in their protocol, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from mmcache_ref.cli.console import (
    Accidents,
    ProgressLines,
    known_elsewhere,
    known_targets,
    listed_names,
    made_folder,
    namespace_of,
    show,
)
from mmcache_ref.oracle.event_log import Recorder
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.process_simulation import simulate_in_processes
from mmcache_ref.oracle.simulation import Observer, Plan, simulate
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.simulation import simulation_json, simulation_text


def simulate_target(
    target: Annotated[str, typer.Argument(help="As for conform.")] = "reference",
    cache: Annotated[
        Literal["lru", "shm"], typer.Option(help="The key-replicated pair, or the shared-memory caches.")
    ] = "lru",
    workers: Annotated[
        int, typer.Option(min=1, max=16, help="That read, with --cache shm; an LRU pair has one P1.")
    ] = 2,
    requests: Annotated[int, typer.Option(min=1, help="That clients make.")] = 500,
    accidents: Accidents = None,
    protections: Annotated[
        list[str] | None,
        typer.Option("--protect", help="Protections, with commas between, default or none. May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is random.")] = 0,
    in_processes: Annotated[
        bool,
        typer.Option("--processes", help="Every part in a process of its own, all at work at the same time."),
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Also write what each process did into this file, as an event log.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Run random requests and accidents through a target's caches.

    Every step is judged.

    In one process P0, the channel and P1 or the workers take turns, so a seed always gives the same
    simulation. With --processes they are processes that work at the same time: every answer is compared with
    what was asked for, each process writes its own events, and their log is judged in the end. Prints what it
    cost; exits with 2 when the target leaves the model, or the protections that were chosen do not keep what
    users rely on.

    Example: mmcache-ref simulate --cache shm --with abort,fan-out --seed 7
    """
    stopping = listed_names(protections or ["default"])
    plan = Plan(
        cache,
        requests,
        workers,
        seed,
        tuple(listed_names(accidents)),
        tuple([name for name in stopping if name != "none"]),
        in_processes,
    )
    known_targets([target])
    try:
        plan.config  # noqa: B018 - a name that is unknown is told here
    except ValueError as error:
        others = {f"--cache {kind}": family.model for kind, family in FAMILIES.items() if kind != cache}
        elsewhere = known_elsewhere(listed_names(accidents), FAMILIES[cache].model, others)
        raise typer.BadParameter(f"{error}{elsewhere}") from None
    if trace is not None:
        made_folder(trace.parent)
    namespace = namespace_of(target)
    with ProgressLines() as progress:
        line = progress.add_task("simulate", what="", total=requests)

        def observe(done: int) -> None:
            progress.update(line, completed=done, what=f"{done:,} of {requests:,} requests")

        if in_processes:
            found = simulate_in_processes(target, namespace, plan, progress=observe, trace=trace)
        else:
            with _recorder(trace, plan) as observer:
                found = simulate(target, namespace, plan, progress=observe, observer=observer)
    show({"text": simulation_text, "json": simulation_json}[output_format](found))
    raise typer.Exit(EXIT_CODES[found.status])


@contextmanager
def _recorder(path: Path | None, plan: Plan) -> Iterator[Observer]:
    """Writes an event log, if there is a file for it."""
    if path is None:
        yield lambda lockstep, operation: None
        return
    with path.open("w", encoding="utf-8") as file:
        yield Recorder(file, plan.cache, plan.config)
