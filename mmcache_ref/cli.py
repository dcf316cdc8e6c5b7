"""The command `mmcache-ref`.

Exit codes: 0 conforms, 1 usage, 2 violates, 3 undetermined, 4 a run that cannot be read.
"""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import msgspec
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from mmcache_ref import __version__
from mmcache_ref.model import drift, key_replicated, lru, processor_only, receiver, sender
from mmcache_ref.model.explore import Property, explore
from mmcache_ref.oracle import clauses as specification
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import BadRun, TargetUnavailable, UnknownClause
from mmcache_ref.oracle.hunt import hunt
from mmcache_ref.oracle.hunting import WorkerLost, perform_all, tasks
from mmcache_ref.oracle.lockstep import BEST_LEVEL
from mmcache_ref.oracle.matrix import VIEWS, matrix, missing, tests_directory
from mmcache_ref.oracle.regressions import run_file, store_runs
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.sharing import DatabaseUnavailable, judge_sharing, open_database
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.oracle.suite import Options
from mmcache_ref.oracle.supervisor import replay_run, stop
from mmcache_ref.oracle.targets import check_target, seeded_faults
from mmcache_ref.oracle.verdict import EXIT_CODES, Report, report
from mmcache_ref.oracle.worker import Judged, Message, Progressed
from mmcache_ref.report.clauses import clause_text, matrix_table
from mmcache_ref.report.exploration import (
    exploration_json,
    exploration_status,
    exploration_text,
    progress_line,
)
from mmcache_ref.report.faults import fault_text, faults_table
from mmcache_ref.report.files import report_json, write_report
from mmcache_ref.report.hunt import hunt_json, hunt_markdown, hunt_text
from mmcache_ref.report.junit import junit
from mmcache_ref.report.markdown import markdown
from mmcache_ref.report.text import report_text, run_table

USAGE, BAD_RUN, INTERRUPTED = 1, 4, 130
USAGE_ERROR: Any = typer.BadParameter.__base__
"""Where this class lives differs between releases of typer."""

EXPLORABLE: dict[str, tuple[Any, Mapping[str, Property]]] = {
    "lru": (lru, lru.PROPERTIES),
    "processor-only": (processor_only, processor_only.PROPERTIES),
    "sender": (sender, sender.PROPERTIES),
    "receiver": (receiver, receiver.PROPERTIES),
    "key-replicated": (key_replicated, drift.PROPERTIES),
}
"""The models that have states to search, with their properties."""

app = typer.Typer(
    help="The executable specification of vLLM's multi-modal cache protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)


def main() -> NoReturn:
    """Run the command; usage errors exit with 1, since 2 says that a target violates."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # into which some releases of typer turn the exception
            raise KeyboardInterrupt
        sys.exit(code)
    except USAGE_ERROR as error:
        error.show()
        sys.exit(USAGE)
    except (typer.Abort, KeyboardInterrupt):
        stop()
        messages.print("mmcache-ref: interrupted")
        os._exit(INTERRUPTED)  # threads that wait for a worker are not waited for


def _interrupt(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def fail(message: str, code: int) -> NoReturn:
    """Say why on stderr and leave."""
    messages.print(f"mmcache-ref: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(code)


@app.command()
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
) -> None:
    """Judge targets: execute every edge of each component's tiny graph, then fuzz.

    Example: mmcache-ref conform reference vllm@0.32.0 --seconds 20
    """
    components = tuple(dict.fromkeys(component or COMPONENTS))
    if not math.isfinite(seconds):
        raise typer.BadParameter("--seconds takes a number of seconds")
    for name in components:
        if name not in COMPONENTS:
            raise typer.BadParameter(f"no component {name!r}: take one of {', '.join(COMPONENTS)}")
    for target in targets:
        try:
            check_target(target)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    if report_to is not None:
        try:
            report_to.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise typer.BadParameter(f"cannot write reports there: {error}") from None
    if examples:
        try:
            open_database(examples)
        except DatabaseUnavailable as error:
            raise typer.BadParameter(str(error)) from None
    options = Options(components, profile, level, seconds, seed)
    verdict = _judge_all(targets, options, examples)
    if report_to is not None:
        write_report(verdict, report_to)
    if output_format == "json":
        sys.stdout.write(report_json(verdict))
    elif output_format == "junit":
        sys.stdout.write(junit(verdict))
    elif output_format == "markdown":
        sys.stdout.write(markdown(verdict))
    else:
        output.print(report_text(verdict, whole=coverage), crop=False)
    raise typer.Exit(EXIT_CODES[verdict.status])


def _judge_all(targets: list[str], options: Options, examples: str) -> Report:
    """Judge the targets beside each other, each in a process of its own, with progress on a terminal."""
    unique = list(dict.fromkeys(targets))
    pool = ThreadPoolExecutor(max_workers=2)
    with _progress() as progress:
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
    words += ["--examples", examples] if examples else []
    return shlex.join([*words, "--seconds", f"{options.seconds:g}", "--seed", str(options.seed)])


def _progress() -> Progress:
    """A line for each target on stderr; nothing when that is no terminal."""
    columns = (TextColumn("{task.description}"), TextColumn("{task.fields[what]}"), TimeElapsedColumn())
    return Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal)


@app.command()
def replay(
    target: Annotated[str, typer.Argument(help="As for conform.")],
    run: Annotated[str, typer.Argument(help="A run: a JSON file, or the JSON itself.")],
) -> None:
    """Repeat one run on a target and say where it leaves the model.

    Example: mmcache-ref replay reference reports/runs/vllm-0.32.0-sender-KR-13.json
    """
    try:
        stored = read_run(run)
    except BadRun as error:
        fail(str(error), BAD_RUN)
    try:
        check_target(target)
        repeated = replay_run(target, stored)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
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


@app.command("explore")
def explore_model(
    model: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPLORABLE)}.")],
    preset: Annotated[Literal["tiny", "small"], typer.Option(help="tiny: seconds. small: minutes.")] = "tiny",
    accidents: Annotated[
        list[str] | None,
        typer.Option("--with", help="Accidents, with commas between, or all. May be repeated."),
    ] = None,
    protections: Annotated[
        list[str] | None,
        typer.Option("--protect", help="Protections, with commas between, or default. May be repeated."),
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Requests under way at once.")] = None,
    clears: Annotated[int | None, typer.Option(min=0, help="Clears in a run, at most.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop the search then.")] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Search every state of a model and print, for each property, whether it holds or the shortest run.

    Example: mmcache-ref explore key-replicated --with reject,reorder --protect rollback
    """
    if model not in EXPLORABLE:
        raise typer.BadParameter(f"no model {model!r}: take one of {', '.join(EXPLORABLE)}")
    module, properties = EXPLORABLE[model]
    try:
        config = _model_config(
            module,
            preset,
            accidents=_names(accidents),
            protections=_names(protections),
            depth=depth,
            clears=clears,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    with _progress() as progress:
        line = progress.add_task(model, what="searching")
        found = explore(
            module,
            config,
            properties=properties,
            seconds=seconds,
            progress=lambda done: progress.update(line, what=progress_line(done)),
        )
    if output_format == "json":
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(exploration_json(found))).decode() + "\n")
    else:
        output.print(exploration_text(found))
    raise typer.Exit(EXIT_CODES[exploration_status(found)])  # type: ignore[index]


def _names(listed: list[str] | None) -> list[str]:
    """The names in lists with commas."""
    return [name.strip() for name in ",".join(listed or ()).split(",") if name.strip()]


def _model_config(module: Any, preset: str, **options: Any) -> Any:
    """A preset, with accidents, protections and bounds where the model knows any."""
    if hasattr(module, "configure"):
        return module.configure(preset, **options)
    if any(options.values()):
        raise ValueError(f"{module.NAME} has no accidents and no protections: only key-replicated has")
    return module.PRESETS[preset]


@app.command("clauses")
def show_clauses(
    identifier: Annotated[str | None, typer.Argument(help="Print this clause.")] = None,
    missing_only: Annotated[
        bool, typer.Option("--missing", help="Print the holes of the matrix; exit with 2 if there are any.")
    ] = False,
) -> None:
    """Print a clause, or the matrix of clauses and the views that serve them.

    Example: mmcache-ref clauses KR-13
    """
    cells = matrix()
    if identifier is not None:
        try:
            found = specification.clause(identifier.upper())
        except UnknownClause as error:
            raise typer.BadParameter(str(error)) from None
        output.print(clause_text(found, cells[found.id]))
        return
    unknown = ("test",) if tests_directory() is None else ()
    if unknown:
        messages.print("the tests are not installed: of the column `test` nothing is known", style="dim")
    if not missing_only:
        rows = [(each, cells[each.id]) for each in specification.all_clauses().values()]
        output.print(matrix_table(rows, VIEWS, unknown))
        return
    holes = missing(cells)
    for each, views in holes:
        output.print(f"{each.id} lacks {', '.join(views)}: {each.rule}", markup=False)
    if holes:
        fail(f"{len(holes)} clauses lack a view that their file demands", EXIT_CODES["violates"])
    output.print(f"{len(specification.all_clauses())} clauses, none lacks a view that its file demands")


@app.command()
def faults(
    name: Annotated[str | None, typer.Argument(help="Tell this one.")] = None,
) -> None:
    """List the seeded faults, or tell the story of one: what went wrong, the replaced rule, how to see it.

    Example: mmcache-ref faults D03
    """
    if name is None:
        output.print(faults_table(seeded_faults().FAULTS.values()))
        return
    (known,) = _fault_names([name])
    output.print(fault_text(seeded_faults().FAULTS[known], run_file=_shown(run_file(known))))


def _shown(path: Path | None) -> str | None:
    """A path from here, where it is below the current folder."""
    if path is None:
        return None
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _fault_names(names: list[str]) -> list[str]:
    """The names in capitals, each once, all faults for none; a usage error for one that is unknown."""
    known = list(seeded_faults().FAULTS)
    chosen = list(dict.fromkeys(name.upper() for name in names)) or known
    for name in chosen:
        if name not in known:
            raise typer.BadParameter(f"no fault {name!r}: take one of {', '.join(known)}")
    return chosen


@app.command("hunt")
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
    """Measure the oracle: which technique finds which seeded fault, how soon, in how short a run.

    Exits with 2 when a demand fails: see the last lines.

    Example: mmcache-ref hunt D06 D09 --seeds 10
    """
    planned = tasks(_fault_names(names or []), seeds)
    with _progress() as progress:
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
    if output_format == "json":
        sys.stdout.write(hunt_json(found))
    elif output_format == "markdown":
        sys.stdout.write(hunt_markdown(found))
    else:
        output.print(hunt_text(found), crop=False)
    raise typer.Exit(0 if found.is_kept else EXIT_CODES["violates"])


@app.command()
def schema() -> None:
    """Print the JSON schema of a report.

    Example: mmcache-ref schema > report.schema.json
    """
    from mmcache_ref.oracle.verdict import schema as report_schema

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(report_schema()), indent=2).decode() + "\n")


@app.command()
def version() -> None:
    """Print the version.

    Example: mmcache-ref version
    """
    output.print(__version__)


if __name__ == "__main__":
    main()
