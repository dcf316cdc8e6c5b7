"""`mmcache-ref models`: check the TLA+ models with TLC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import Progress

from mmcache_ref.cli.console import (
    BAD_RUN,
    USAGE,
    ProgressLines,
    fail,
    known_targets,
    made_folder,
    messages,
    namespace_of,
    show,
)
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.stored import encode_run, read_run
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.models import models_json, models_text
from mmcache_ref.tlc.behaviours import NoBehaviour, follow, module_of
from mmcache_ref.tlc.checking import (
    Judged,
    checks_liveness,
    judge,
    judge_distributed,
    never_taken,
    never_violated,
)
from mmcache_ref.tlc.counterexamples import NoRun, run_of_trace
from mmcache_ref.tlc.distributed import LOOPBACK
from mmcache_ref.tlc.manifest import (
    Entry,
    Module,
    Tier,
    in_models,
    manifest_path,
    read_manifest,
    write_manifest,
)
from mmcache_ref.tlc.runner import stop_all
from mmcache_ref.tlc.sources import clauses_of_config
from mmcache_ref.tlc.tools import ToolMissing, java, tla2tools


def check_models(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Models, or modules with their models of the tier; unless given, all of the tier."
        ),
    ] = None,
    tier: Annotated[
        Literal["pr", "nightly"], typer.Option(help="pr: minutes. nightly: also what takes long.")
    ] = "pr",
    target: Annotated[
        str, typer.Option(help="Execute every edge of the tiny graphs on this target.")
    ] = "reference",
    runs: Annotated[
        Path | None, typer.Option(help="Write each counterexample there as a run, for mmcache-ref replay.")
    ] = None,
    behaviour: Annotated[
        str | None,
        typer.Option(
            help="Print this run (a JSON file, or the JSON itself) as a TLA+ module that TLC follows."
        ),
    ] = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="A server and workers of one thread each, for large models.")
    ] = False,
    workers: Annotated[int, typer.Option(min=0, help="On this machine; 0: others join.")] = 2,
    host: Annotated[str, typer.Option(help="The address by which workers reach the server.")] = LOOPBACK,
    jobs: Annotated[int, typer.Option(min=1, help="Models at once; each takes up to 2 GiB.")] = 3,
    record: Annotated[
        bool, typer.Option("--record", help="Write the numbers found into models/manifest.json.")
    ] = False,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Check the TLA+ models with TLC.

    Each is compared with the manifest and with the search in Python.

    It fails on any difference: in the result, in the property that is named, in the numbers of states; and on
    a model that holds and must not. Every edge of the tiny graphs is executed on the target. Without names it
    also asks whether every action is taken by some model, and every property violated by some twin.

    Example: mmcache-ref models MCLru
    """
    if distributed and (record or runs is not None):
        fail(
            "--distributed finds neither counts that can be repeated nor counterexamples: "
            "take --record and --runs without it",
            USAGE,
        )
    if behaviour is not None:
        raise typer.Exit(_follow(behaviour))
    manifest = read_manifest()
    chosen = manifest.entries
    if names:
        known = {name for each in chosen for name in _names(*each)}
        for name in names:
            if name not in known:
                modules = ", ".join(module.name.removeprefix("MC") for module in manifest.modules)
                fail(
                    f"no model {name!r}: take one of {modules}, or of the models in {manifest_path()}", USAGE
                )
        chosen = [each for each in chosen if set(_names(*each)) & set(names)]
    named = set(names or [])
    chosen = [each for each in chosen if tier in ("nightly", each[1].tier) or each[1].name in named]
    if distributed:
        chosen = _told_distributed(chosen, names or [])
    known_targets([target])
    if runs is not None:
        made_folder(runs)
    executed_on = namespace_of(target)
    try:
        tools = f"TLC {tla2tools().version}, Java {java().version}"
    except ToolMissing as error:
        fail(str(error), EXIT_CODES["undetermined"])
    if distributed:
        judged = _judge_distributed(chosen, workers, host)
        show({"text": models_text, "json": models_json}[output_format](judged, {}, tools))
        raise typer.Exit(0 if all(each.is_right for each in judged) else EXIT_CODES["violates"])
    judged = _judge_all(
        chosen,
        executed_on,
        jobs,
        tier="nightly" if names else tier,
        is_recording=record,
        counts_actions=not names,
    )
    gaps = _gaps(judged, [] if names else manifest.modules)
    show({"text": models_text, "json": models_json}[output_format](judged, gaps, tools))
    if runs is not None:
        write_runs(judged, runs)
    if record:
        for each in judged:
            if each.is_right:
                found, entry = each.found, each.entry
                entry.distinct_states, entry.total_states = found.distinct, found.generated
                entry.state_depth = found.depth
                entry.runtime = str(timedelta(seconds=ceil(found.processor_seconds))).zfill(8)
                entry.clauses = clauses_of_config(in_models(entry.path))
        write_manifest(manifest)
    if gaps or not all(each.is_right for each in judged):
        raise typer.Exit(EXIT_CODES["violates"])


def _follow(text: str) -> int:
    """A run as a module on stdout, and on stderr whether TLC takes its steps; the exit code of that."""
    try:
        stored = read_run(text)
        module = module_of(stored)
        followed = follow(stored)
    except (BadRun, NoBehaviour) as error:
        fail(str(error), BAD_RUN)
    except ToolMissing as error:
        fail(str(error), EXIT_CODES["undetermined"])
    show(module)
    if followed.error:
        fail(f"TLC: {followed.error}", EXIT_CODES["undetermined"])
    said = "a behaviour of the model" if followed.is_behaviour else "no behaviour of the model"
    messages.print(f"TLC takes {followed.taken} of {followed.steps} steps: {said}", markup=False)
    return EXIT_CODES["conforms" if followed.is_behaviour else "violates"]


def write_runs(judged: list[Judged], folder: Path) -> None:
    """Each counterexample that is a run of the Python model, into `NAME.json` there; of the others it is told
    why they are none."""
    for each in judged:
        if each.entry.bound is not None and each.found.trace:
            try:
                run = run_of_trace(each.entry.bound, each.found.trace)
            except NoRun as why:
                messages.print(f"{each.entry.name}: {why}", markup=False)
                continue
            (folder / f"{each.entry.name}.json").write_text(encode_run(run) + "\n", encoding="utf-8")


def _names(module: Module, entry: Entry) -> tuple[str, ...]:
    """What a model may be called on the command line: its own name, or its module's."""
    return entry.name, module.name, module.name.removeprefix("MC")


def _told_distributed(chosen: list[tuple[Module, Entry]], names: list[str]) -> list[tuple[Module, Entry]]:
    """Without the twins, whose property TLC does not name in its distributed mode, and without the models of
    liveness, which it does not check there; to ask for one by its name is refused, and for nothing else."""
    twins = [entry.name for _, entry in chosen if not entry.must_hold]
    live = [entry.name for module, entry in chosen if entry.must_hold and checks_liveness(module, entry)]
    for name in names:
        why = ""
        if name in twins:
            why = f"does not tell which property fails, and {name} must break one"
        elif name in live:
            why = f"checks no liveness, and {name} says what happens in the end"
        if why:
            fail(f"--distributed {why}: check it without --distributed", USAGE)
    _tell_left_out(twins, "that must fail")
    _tell_left_out(live, "of liveness")
    left = [each for each in chosen if each[1].name not in {*twins, *live}]
    if not left:
        fail("--distributed leaves no model to check: check these without it", USAGE)
    return left


def _tell_left_out(names: list[str], which: str) -> None:
    if names:
        count = f"1 model {which} is" if len(names) == 1 else f"{len(names)} models {which} are"
        messages.print(f"left out: {count} not checked with --distributed", markup=False, soft_wrap=True)


def _judge_distributed(chosen: list[tuple[Module, Entry]], workers: int, host: str) -> list[Judged]:
    """Each model that was chosen, one after the other; how workers join is told on stderr."""
    judged: list[Judged] = []
    with ProgressLines() as progress:
        for module, entry in chosen:
            with _line(progress, entry) as tell:
                judged.append(
                    judge_distributed(
                        module, entry, workers=workers, host=host, progress=tell, ready=_tell_how_to_join
                    )
                )
    return judged


def _tell_how_to_join(command: str) -> None:
    messages.print(f"more workers: {command}", markup=False, soft_wrap=True)


def _judge_all(
    chosen: list[tuple[Module, Entry]],
    target: Any,
    jobs: int,
    *,
    tier: Tier,
    is_recording: bool,
    counts_actions: bool,
) -> list[Judged]:
    """Every model that was chosen, some at once, what takes longest first, with a line of progress each."""
    pool = ThreadPoolExecutor(jobs)
    with ProgressLines() as progress:

        def one(chosen: tuple[Module, Entry]) -> Judged:
            with _line(progress, chosen[1]) as tell:
                return judge(
                    *chosen,
                    target=target,
                    tier=tier,
                    is_recording=is_recording,
                    counts_actions=counts_actions,
                    progress=tell,
                )

        try:
            longest_first = sorted(chosen, key=lambda each: each[1].runtime, reverse=True)
            judged = {each.entry.name: each for each in pool.map(one, longest_first)}
            return [judged[entry.name] for _, entry in chosen]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # first, or a thread would begin the next model
            stop_all()


@contextmanager
def _line(progress: Progress, entry: Entry) -> Iterator[Callable[[str], None]]:
    """A line of progress while a model is checked, and what changes what it says; where that is no terminal,
    a line as it begins, since a model may take minutes."""
    line = progress.add_task(entry.name, what="starting")
    if progress.disable:
        messages.print(f"checking {entry.name}", markup=False)
    try:
        yield lambda what: progress.update(line, what=what)
    finally:
        progress.remove_task(line)


def _gaps(judged: list[Judged], modules: list[Module]) -> dict[str, str]:
    """What the models of each module leave open, where all of them were checked."""
    idle = never_taken(judged)
    gaps: dict[str, str] = {}
    for module in modules:
        told = []
        if actions := idle.get(module.name):
            told.append(f"no model takes {', '.join(actions)}")
        if unbroken := never_violated(module):
            told.append(f"no twin violates {', '.join(unbroken)}")
        if told:
            gaps[module.name] = "; ".join(told)
    return gaps
