"""`mmcache-ref interleave`: every interleaving of a few threads on one segment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from mmcache_ref.cli.console import (
    BAD_RUN,
    USAGE,
    ProgressLines,
    fail,
    known_targets,
    listed_names,
    namespace_of,
    show,
)
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.interleaving.judge import interleave, replay
from mmcache_ref.oracle.interleaving.scenario import AnyScenario
from mmcache_ref.oracle.interleaving.scenarios import SCENARIOS
from mmcache_ref.oracle.interleaving.schedules import Schedule
from mmcache_ref.oracle.interleaving.verdicts import Interleaved, Options
from mmcache_ref.oracle.verdict import EXIT_CODES, worst
from mmcache_ref.report.interleaving import interleaved_json, interleaved_text


class _Replay(msgspec.Struct):
    """A scenario, whole or by its name, and a schedule of it."""

    scenario: AnyScenario | str
    schedule: Schedule


def interleave_target(
    targets: Annotated[list[str] | None, typer.Argument(help="One or more; reference unless given.")] = None,
    preemptions: Annotated[
        int, typer.Option(min=0, max=4, help="Run every schedule with up to so many preemptions.")
    ] = 2,
    schedules: Annotated[
        int, typer.Option(min=0, help="Then so many random schedules of each scenario, by priorities.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the random schedules.")] = 0,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help=f"One of them, or several with commas between: {', '.join(SCENARIOS)}."),
    ] = None,
    bytecodes: Annotated[
        bool, typer.Option("--bytecodes", help="Stop within every line, not only in those that write.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Stop then: what was not run is undetermined.")
    ] = None,
    replay_of: Annotated[
        str | None,
        typer.Option("--replay", metavar="JSON", help="Repeat one schedule of a report, or of a file."),
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Let writer and readers meet in every order on one segment.

    Asked is whether an order of whole calls explains what they saw.

    They are threads of which one runs at a time; between any two lines of the store or the ring that can
    touch the segment another one may go on. Exits with 2 where no order of whole calls explains the results.

    Example: mmcache-ref interleave vllm@0.32.0 --scenario get-clear-put
    """
    named = targets or ["reference"]
    known_targets(named)
    options = Options(preemptions, schedules, seed, bytecodes, seconds)
    if replay_of is None:
        chosen = _chosen(listed_names(scenario))
        judged = [_judged(target, chosen, options) for target in named]
    else:
        repeated = _read(replay_of)
        judged = [_repeated(target, repeated) for target in named]
    for each in judged:
        show({"text": interleaved_text, "json": interleaved_json}[output_format](each))
    raise typer.Exit(EXIT_CODES[worst(each.status for each in judged)])


def _chosen(names: Sequence[str]) -> list[AnyScenario]:
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        fail(f"no scenario {unknown[0]!r}: take one of {', '.join(SCENARIOS)}", USAGE)
    return [SCENARIOS[name] for name in names or SCENARIOS]


def _judged(target: str, scenarios: Sequence[AnyScenario], options: Options) -> Interleaved:
    with ProgressLines() as progress:
        line = progress.add_task(target, what="loading")
        return interleave(
            namespace_of(target),
            target,
            scenarios,
            options,
            lambda name, runs: progress.update(line, what=f"{name}: {runs:,} schedules"),
        )


def _read(text: str) -> tuple[AnyScenario, Schedule]:
    try:
        is_file = not text.lstrip().startswith("{")
        read = msgspec.json.decode(Path(text).read_bytes() if is_file else text, type=_Replay)
        found = SCENARIOS[read.scenario] if isinstance(read.scenario, str) else read.scenario
    except OSError as error:
        fail(f"not a schedule, and no file with one: {error.strerror or error}", BAD_RUN)
    except (msgspec.MsgspecError, ValueError) as error:
        fail(f"not a schedule: {error}. It has a scenario and a schedule, as a report prints them", BAD_RUN)
    except KeyError as error:
        fail(f"no scenario {error}: take one of {', '.join(SCENARIOS)}", BAD_RUN)
    return found, read.schedule


def _repeated(target: str, repeated: tuple[AnyScenario, Schedule]) -> Interleaved:
    scenario, schedule = repeated
    try:
        verdict = replay(namespace_of(target), scenario, schedule)
    except (BadRun, ValueError) as error:
        fail(str(error), BAD_RUN)
    return Interleaved(target, None, (verdict,))
