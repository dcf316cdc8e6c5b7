"""`mmcache-ref conform --processes` and `soak`: targets among processes that are killed, stopped, cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, NoReturn, TypeVar

import msgspec
import typer
from rich.progress import TaskID

from mmcache_ref.cli.console import ProgressLines, known_targets, show
from mmcache_ref.oracle.mishaps.judge import ROUNDS, Judged, judge
from mmcache_ref.oracle.mishaps.rounds import Options
from mmcache_ref.oracle.mishaps.soak import CEILING_MIB, Minute, Soaked, soak
from mmcache_ref.oracle.verdict import EXIT_CODES, worst
from mmcache_ref.report.mishaps import mishaps_json, mishaps_text, soak_json, soak_line, soak_text

FORMATS = {"text": mishaps_text, "json": mishaps_json}


Cache = Literal["lru", "shm"]


def conform_processes(
    targets: Sequence[str],
    options: Options,
    mishaps: Sequence[str],
    output_format: str,
    cache: Cache | None = None,
) -> NoReturn:
    """Judge one target after the other by what it lives through, and exit by the verdict.

    Without `cache`, with all the caches that have such mishaps and that the target offers.
    """
    wanted = tuple(ROUNDS) if cache is None else (cache,)
    for name in mishaps:
        if not any(name in ROUNDS[each].mishaps for each in wanted):
            known = dict.fromkeys(known for each in wanted for known in ROUNDS[each].mishaps)
            raise typer.BadParameter(f"no mishap {name!r}: take one of {', '.join(known)}")
    if output_format not in FORMATS:
        raise typer.BadParameter(f"--processes prints {' or '.join(FORMATS)}")
    judged: list[Judged] = []
    with ProgressLines() as progress:
        lines = {target: progress.add_task(target, what="") for target in dict.fromkeys(targets)}
        for target, line in lines.items():
            progress.update(line, what="starting")

            def observe(what: str, line: TaskID = line) -> None:
                progress.update(line, what=what)

            each_cache = []
            for kind in wanted:
                only = tuple([each for each in dict.fromkeys(mishaps) if each in ROUNDS[kind].mishaps])
                if only or not mishaps:
                    chosen = msgspec.structs.replace(options, cache=kind)
                    each_cache.append(judge(target, chosen, observe, only=only or None))
            judged += offered(each_cache)
    show(FORMATS[output_format](judged))
    raise typer.Exit(EXIT_CODES[worst(each.status for each in judged)])


Result = TypeVar("Result", Judged, Soaked)


def offered(results: list[Result]) -> list[Result]:
    """Those of caches that the target offers; all of them where it offers none."""
    return [each for each in results if each.is_offered] or results


def soak_target(
    target: Annotated[str, typer.Argument(help="As for conform.")] = "reference",
    minutes: Annotated[float, typer.Option(min=0, help="For how long in all.")] = 10.0,
    cache: Annotated[Cache | None, typer.Option(help="Only these caches; else one after the other.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=4, help="Readers, with shm.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is random.")] = 0,
    profile: Annotated[Literal["upstream", "safe"], typer.Option(help="As for conform.")] = "safe",
    ceiling: Annotated[
        int, typer.Option(min=1, help="MiB of memory that one process may have in use.")
    ] = CEILING_MIB,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two lines.")] = 60.0,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Serve for minutes through real processes, amid mishaps.

    One mishap follows the other, and what grows is watched.

    Prints a line a minute: requests, mishaps, memory, open files, bytes of the segment. Exits with 2 when a
    clause broke or something grew.

    Example: mmcache-ref soak --minutes 10
    """
    known_targets([target])
    if not math.isfinite(minutes):
        raise typer.BadParameter("--minutes takes a number of minutes")

    def tell(minute: Minute) -> None:
        if output_format == "text":
            print(soak_line(minute), flush=True)

    wanted: Sequence[Cache] = ("lru", "shm") if cache is None else (cache,)
    soaks = []
    for kind in wanted:
        options = Options(workers=workers, seed=seed, profile=profile, cache=kind)
        share = minutes / len(wanted)
        soaks.append(soak(target, options, share, tell, ceiling_mib=ceiling, every=every))
    soaks = offered(soaks)
    show({"text": soak_text, "json": soak_json}[output_format](soaks))
    raise typer.Exit(EXIT_CODES[worst(each.status for each in soaks)])
