"""`mmcache-ref conform` and `replay`: judge targets, and repeat one run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.console import RenderableType

from mmcache_ref import __version__
from mmcache_ref.cli.console import BAD_RUN, ProgressLines, fail, known_targets, made_folder, output, show
from mmcache_ref.cli.mishaps import conform_processes
from mmcache_ref.oracle import clauses as specification
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import BadRun, TargetUnavailable
from mmcache_ref.oracle.lockstep import BEST_LEVEL
from mmcache_ref.oracle.mishaps import rounds as mishaps
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.sharing import DatabaseUnavailable, judge_sharing, open_database
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.oracle.suite import Options, Stage
from mmcache_ref.oracle.supervisor import replay_run
from mmcache_ref.oracle.verdict import EXIT_CODES, Report, report
from mmcache_ref.oracle.worker import Judged, Message, Progressed
from mmcache_ref.report.files import report_json, write_report
from mmcache_ref.report.junit import junit
from mmcache_ref.report.markdown import markdown
from mmcache_ref.report.text import report_text, run_table

WORKERS: Final = 2


def conform(
    targets: Annotated[
        list[str], typer.Argument(help="reference, vllm, vllm@VERSION, py:package.module:name, or fault:NAME")
    ],
    component: Annotated[
        list[str] | None, typer.Option(help=f"Judge only this: {', '.join(COMPONENTS)}. May be repeated.")
    ] = None,
    profile: Annotated[
        Literal["upstream", "safe"],
        typer.Option(help="upstream: as 0.32 documents. safe: also the stronger clauses."),
    ] = "safe",
    level: Annotated[
        int, typer.Option(min=0, max=BEST_LEVEL, help="Observe no more than this.")
    ] = BEST_LEVEL,
    seconds: Annotated[
        float, typer.Option(min=0, help="Time to fuzz each target, after its graphs are executed.")
    ] = 20.0,
    seed: Annotated[int, typer.Option(min=0, help="Every random choice follows from it.")] = 0,
    output_format: Annotated[Literal["text", "json", "junit", "markdown"], typer.Option("--format")] = "text",
    coverage: Annotated[
        bool, typer.Option("--coverage", help="In the text, list all that was covered and what was not.")
    ] = False,
    report_to: Annotated[
        Path | None, typer.Option("--report", help="Also write the report and its runs into this folder.")
    ] = None,
    examples: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            envvar="MMCACHE_EXAMPLES",
            help="Share the runs that break a clause with all who use this folder, or redis:// address.",
        ),
    ] = "",
    walks: Annotated[
        bool, typer.Option("--walks", help="Also take every edge on long walks; as long as the rest again.")
    ] = False,
    processes: Annotated[
        bool,
        typer.Option(
            "--processes",
            help="Instead: P0, P1 and its workers as real processes, which are killed, stopped, cut off.",
        ),
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=4, help="Readers, with --processes.")] = WORKERS,
    cache: Annotated[
        Literal["lru", "shm"] | None, typer.Option(help="With --processes, only these caches.")
    ] = None,
    mishap: Annotated[
        list[str] | None, typer.Option(help="With --processes, only this mishap. May be repeated.")
    ] = None,
) -> None:
    """Judge targets, and show a short run to each broken clause.

    Every edge of each component's tiny graph is executed; then it is fuzzed.

    Example: mmcache-ref conform reference vllm@0.32.0 --seconds 20
    """
    components = tuple(dict.fromkeys(component or COMPONENTS))
    if not math.isfinite(seconds):
        raise typer.BadParameter("--seconds takes a number of seconds")
    for name in components:
        if name not in COMPONENTS:
            raise typer.BadParameter(f"no component {name!r}: take one of {', '.join(COMPONENTS)}")
    known_targets(targets)
    if processes:
        if component or level != BEST_LEVEL or report_to is not None or examples or walks or coverage:
            raise typer.BadParameter(
                "--processes takes no --component, --level, --report, --examples, --walks or --coverage"
            )
        conform_processes(
            targets,
            mishaps.Options(workers=workers, seconds=seconds, seed=seed, profile=profile),
            mishap or (),
            output_format,
            cache,
        )
    elif mishap or cache or workers != WORKERS:
        raise typer.BadParameter("--mishap, --cache and --workers need --processes")
    if report_to is not None:
        made_folder(report_to)
    if examples:
        try:
            open_database(examples)
        except DatabaseUnavailable as error:
            raise typer.BadParameter(str(error)) from None
    stages: tuple[Stage, ...] = ("exhaustive", "walks", "fuzz") if walks else ("exhaustive", "fuzz")
    options = Options(components, profile, level, seconds, seed, stages)
    verdict = _judge_all(targets, options, examples)
    if report_to is not None:
        write_report(verdict, report_to)
    formats: Mapping[str, Callable[[Report], str | RenderableType]] = {
        "text": partial(report_text, whole=coverage),
        "json": report_json,
        "junit": junit,
        "markdown": markdown,
    }
    show(formats[output_format](verdict))
    raise typer.Exit(EXIT_CODES[verdict.status])


def _judge_all(targets: list[str], options: Options, examples: str) -> Report:
    """Judge the targets beside each other, each in a process of its own, with progress on a terminal."""
    unique = list(dict.fromkeys(targets))
    pool = ThreadPoolExecutor(max_workers=2)
    with ProgressLines() as progress:
        lines = {target: progress.add_task(target, what="loading") for target in unique}

        def observer(target: str, message: Message) -> None:
            if isinstance(message, Progressed):
                what = f"{message.component}: {message.stage}, {message.done:,} done"
                progress.update(lines[target], what=what)
            elif isinstance(message, Judged):
                progress.update(lines[target], what=f"{message.component}: done")

        def judge(target: str) -> Any:
            command = _command(target, options, examples)
            verdict = judge_sharing(target, options, examples, observer=observer, command=command)
            progress.update(lines[target], what=verdict.status)
            return verdict

        return report(__version__, list(pool.map(judge, unique)))


def _command(target: str, options: Options, examples: str) -> str:
    """The command that repeats the judgement of one target."""
    words = ["mmcache-ref", "conform", target]
    if options.components != tuple(COMPONENTS):
        words += [word for name in options.components for word in ("--component", name)]
    words += ["--profile", options.profile] if options.profile != "safe" else []
    words += ["--level", str(options.level)] if options.level != BEST_LEVEL else []
    words += ["--walks"] if "walks" in options.stages else []
    words += ["--examples", examples] if examples else []
    return shlex.join([*words, "--seconds", f"{options.seconds:g}", "--seed", str(options.seed)])


def replay(
    target: Annotated[str, typer.Argument(help="As for conform.")],
    run: Annotated[str, typer.Argument(help="A run: a JSON file, or the JSON itself.")],
) -> None:
    """Repeat one run on a target and say where it leaves the model.

    Example: mmcache-ref replay fault:D03 spec/runs/D03.json
    """
    try:
        stored = read_run(run)
    except BadRun as error:
        fail(str(error), BAD_RUN)
    known_targets([target])
    try:
        repeated = replay_run(target, stored)
    except TargetUnavailable as error:
        fail(str(error), EXIT_CODES["undetermined"])
    if repeated.mismatch is not None:
        output.print(sentence(repeated), markup=False)
    output.print(run_table(repeated))
    if repeated.mismatch is None:
        output.print(f"{target} keeps every clause on this run")
        if len(repeated.steps) < len(stored.steps):
            output.print("the profile says nothing of the operations after these")
        raise typer.Exit(EXIT_CODES["conforms"])
    broken = specification.clause(repeated.mismatch.clause)
    output.print(f"{target} breaks {broken.id}: {broken.rule}", markup=False)
    raise typer.Exit(EXIT_CODES["violates"])
