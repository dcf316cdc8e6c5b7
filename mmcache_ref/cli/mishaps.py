"""`mmcache-ref conform --processes` and `soak`: targets among processes that are killed, stopped, cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, NoReturn

import typer

from mmcache_ref.cli.console import progress_lines, show
from mmcache_ref.oracle.mishaps.judge import Options, judge
from mmcache_ref.oracle.mishaps.mishaps import MISHAPS
from mmcache_ref.oracle.mishaps.soak import CEILING_MIB, Minute, soak
from mmcache_ref.oracle.targets import check_target
from mmcache_ref.oracle.verdict import EXIT_CODES, worst
from mmcache_ref.report.mishaps import mishaps_json, mishaps_text, soak_json, soak_line, soak_text

FORMATS = {"text": mishaps_text, "json": mishaps_json}


def conform_processes(
    targets: Sequence[str], options: Options, mishaps: Sequence[str], output_format: str
) -> NoReturn:
    """Judge one target after the other by what it lives through, and exit by the verdict."""
    for name in mishaps:
        if name not in MISHAPS:
            raise typer.BadParameter(f"no mishap {name!r}: take one of {', '.join(MISHAPS)}")
    if output_format not in FORMATS:
        raise typer.BadParameter(f"--processes prints {' or '.join(FORMATS)}")
    only = tuple(dict.fromkeys(mishaps)) or tuple(MISHAPS)
    judged = []
    with progress_lines() as progress:
        lines = {target: progress.add_task(target, what="") for target in dict.fromkeys(targets)}
        for target, line in lines.items():
            progress.update(line, what="starting")
            judged.append(
                judge(target, options, lambda what, line=line: progress.update(line, what=what), only=only)  # type: ignore[misc]
            )
    show(FORMATS[output_format](judged))
    raise typer.Exit(EXIT_CODES[worst(each.status for each in judged)])


def soak_target(
    target: Annotated[str, typer.Argument(help="As for conform.")] = "reference",
    minutes: Annotated[float, typer.Option(min=0, help="For how long.")] = 10.0,
    workers: Annotated[int, typer.Option(min=1, max=4, help="Readers.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is random.")] = 0,
    profile: Annotated[Literal["upstream", "safe"], typer.Option(help="As for conform.")] = "safe",
    ceiling: Annotated[
        int, typer.Option(min=1, help="MiB of memory that one process may have in use.")
    ] = CEILING_MIB,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two lines.")] = 60.0,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Serve requests for minutes through real processes, mishap after mishap, and watch what grows.

    Prints a line a minute: requests, mishaps, memory, open files, bytes of the segment. Exits with 2 when a
    clause broke or something grew.

    Example: mmcache-ref soak --minutes 10
    """
    try:
        check_target(target)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if not math.isfinite(minutes):
        raise typer.BadParameter("--minutes takes a number of minutes")

    def tell(minute: Minute) -> None:
        if output_format == "text":
            print(soak_line(minute), flush=True)

    options = Options(workers=workers, seed=seed, profile=profile)
    soaked = soak(target, options, minutes, tell, ceiling_mib=ceiling, every=every)
    show({"text": soak_text, "json": soak_json}[output_format](soaked))
    raise typer.Exit(soaked.exit_code)
