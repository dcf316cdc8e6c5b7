"""`mmcache-ref bench`: how fast, beside others and beside plain copies."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import typer

from mmcache_ref.cli.console import USAGE, ProgressLines, fail, known_targets, show
from mmcache_ref.oracle.bench import SIZES, measure, size_in_words
from mmcache_ref.oracle.bench_demands import demands
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.growth import NUMBERS, measure_growth
from mmcache_ref.oracle.growth_subjects import LEAST_KEYS
from mmcache_ref.oracle.load import measure_load
from mmcache_ref.oracle.peer_processes import Raised
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.protocol.processes import ProcessLost
from mmcache_ref.report.bench import bench_json, bench_text
from mmcache_ref.report.growth import growth_json, growth_text
from mmcache_ref.report.load import load_json, load_text

DEFAULT: Final = ("reference", "vllm@0.32.0")
DEFAULT_SIZES: Final = ",".join(size_in_words(each).replace(" ", "") for each in SIZES)
DEFAULT_KEYS: Final = ",".join(str(each) for each in NUMBERS)
GROWTH: Final = {"text": growth_text, "json": growth_json}
LOAD: Final = {"text": load_text, "json": load_json}
UNITS: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def bench(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="The first is compared with the others; reference and vllm@0.32.0 unless given."),
    ] = None,
    sizes: Annotated[str, typer.Option(help="Sizes of objects, with commas between.")] = DEFAULT_SIZES,
    rounds: Annotated[int, typer.Option(min=1, help="Each has every target; the median counts.")] = 9,
    clock: Annotated[
        Literal["wall", "processor"],
        typer.Option(help="The processor's time does not count what else runs on the machine."),
    ] = "wall",
    threads: Annotated[int, typer.Option(min=0, help="Of PyTorch; 0 is its own default.")] = 0,
    demand: Annotated[
        bool, typer.Option("--demand", help="Exit with 2 when a demand on the first target is missed.")
    ] = False,
    growth: Annotated[
        bool, typer.Option("--growth", help="How each operation's time grows with the number of keys.")
    ] = False,
    keys: Annotated[str, typer.Option(help="For --growth, with commas between.")] = DEFAULT_KEYS,
    processes: Annotated[
        bool, typer.Option("--processes", help="The whole protocol under load, each part in a process.")
    ] = False,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Time targets side by side, and plain copies.

    Timed are put and get across two processes, and the LRU.

    The two processes take turns, and the pipe between them is not counted. On a machine that does other
    work meanwhile take --clock processor --threads 1. Objects of 512 MiB need 5 GiB of memory in all, half
    of it in /dev/shm.

    With --growth: every operation of every cache, in one process, with so many keys; a million of them takes
    minutes. With --processes: requests and bytes per second through P0, channel and 1, 2 and 4 workers, with
    hit rates of 0, 50 and 90 %, in --rounds by --clock; PyTorch has one thread.

    Example: mmcache-ref bench --sizes 1KiB,1MiB --rounds 5
    """
    named = targets or list(DEFAULT)
    known_targets(named)
    try:
        wanted = [_bytes(size) for size in sizes.split(",")]
        numbers = [_number(each) for each in keys.split(",")]
    except ValueError as error:
        fail(str(error), USAGE)
    with ProgressLines() as progress:
        line = progress.add_task("bench", what="")

        def observe(what: str) -> None:
            progress.update(line, what=what)

        try:
            if growth:
                show(GROWTH[output_format](measure_growth(named, numbers, observe)))
                return
            if processes:
                show(LOAD[output_format](measure_load(named, rounds, observe=observe, clock=clock)))
                return
            found = measure(named, wanted, rounds, observe, clock=clock, threads=threads)
        except (Raised, ProcessLost, TargetUnavailable) as error:
            fail(str(error), EXIT_CODES["undetermined"])
    show({"text": bench_text, "json": bench_json}[output_format](found))
    if found.lost:
        raise typer.Exit(EXIT_CODES["undetermined"])
    is_missed = demand and not all(each.is_kept for each in demands(found))
    raise typer.Exit(EXIT_CODES["violates"] if is_missed else 0)


def _bytes(size: str) -> int:
    """`64KiB` in bytes."""
    matched = re.fullmatch(r"([1-9]\d*)\s*([KMG]iB)?B?", size.strip())
    if matched is None:
        raise ValueError(f"no size: {size!r}. Write it as in 1KiB,64MiB")
    return int(matched[1]) * UNITS[matched[2] or ""]


def _number(text: str) -> int:
    """A number of keys, from 2 on."""
    if not text.strip().isdecimal() or int(text) < LEAST_KEYS:
        raise ValueError(f"no number of keys: {text!r}. Write {LEAST_KEYS} or more, as in 100,10000")
    return int(text)
