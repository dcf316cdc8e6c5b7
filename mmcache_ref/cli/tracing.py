"""`mmcache-ref trace`: event logs, shown as lanes and judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group

from mmcache_ref.cli.console import BAD_RUN, ProgressLines, fail, messages, show
from mmcache_ref.oracle.event_log import BadLog, Log, read_log
from mmcache_ref.oracle.trace_check import Checked, check
from mmcache_ref.oracle.trace_search import Explained
from mmcache_ref.oracle.trace_step import config_of
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.lanes import lanes
from mmcache_ref.report.trace import check_json, check_text


def trace(
    action: Annotated[
        Literal["show", "check"], typer.Argument(help="Print the lanes of the processes, or judge the log.")
    ],
    files: Annotated[list[Path], typer.Argument(help="Event logs, as simulate --trace writes them.")],
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Of check; lanes are always text.")
    ] = "text",
    tlc: Annotated[
        bool,
        typer.Option(
            "--tlc", help="Let TLC judge the logs, too: all of one header at once, by the TLA+ models."
        ),
    ] = False,
) -> None:
    """Show or judge an event log of any implementation.

    Processes write down what they do; spec/10-event-logs.md says how.

    A log is judged without a clock: the order within each process counts, and which message was made before
    it was taken. Exits with 2 where no behaviour of the model explains the log, with 4 where a file is none,
    after the others have been judged.

    Example: mmcache-ref trace check run.ndjson
    """
    if action == "show" and output_format == "json":
        raise typer.BadParameter("lanes are always text: leave --format out, or take check")
    logs: dict[Path, Log] = {}
    codes: list[int] = []
    told: list[str] = []
    for file in files:
        try:
            log = _read(file)
        except ValueError as error:
            messages.print(f"mmcache-ref: {file}: {error}", markup=False, soft_wrap=True)
            codes.append(BAD_RUN)
            continue
        checked, order = _judged(file, log)
        logs[file] = log
        codes.append(EXIT_CODES[checked.status])
        if action == "show":
            show(lanes(log.header, order, checked.unexplained))
            if checked.status != "conforms":
                show(Group("", check_text(file, checked)))
        elif output_format == "json":
            told.append(check_json(file, checked))
        else:
            show(check_text(file, checked))
    if told:
        show(told[0] if len(told) == 1 else "[\n" + ",\n".join(each.rstrip() for each in told) + "\n]\n")
    if tlc and action == "check" and logs:
        codes += _judged_by_tlc(logs)
    raise typer.Exit(max(codes))


def _read(file: Path) -> Log:
    """The log of a file; `ValueError` says why it is none."""
    log = read_log(file)
    try:
        config_of(log.header)
    except ValueError as error:
        raise BadLog(f"line 1 is no header of an event log: {error}") from error
    return log


def _judged(file: Path, log: Log) -> tuple[Checked, list[Explained]]:
    with ProgressLines() as progress:
        progress.add_task(file.name, what=f"{len(log.entries):,} events")
        return check(log)


def _judged_by_tlc(logs: Mapping[Path, Log]) -> list[int]:
    """What TLC says of each log, a line each to stderr, and how fast it was; the exit codes of that."""
    from mmcache_ref.tlc.tools import ToolMissing
    from mmcache_ref.tlc.traces import judge

    started = time.monotonic()
    count = sum(len(log.entries) for log in logs.values())
    with ProgressLines() as progress:
        progress.add_task("TLC", what=f"{count:,} events")
        try:
            judged = judge(list(logs.values()))
        except ToolMissing as error:
            fail(str(error), EXIT_CODES["undetermined"])
    for file, verdict in zip(logs, judged, strict=True):
        first = verdict.first
        where = (
            f"no order explains line {first.line}, {first.event.process}: {first.event.did}" if first else ""
        )
        said = ". ".join(part for part in (verdict.status, where, verdict.reason) if part)
        typer.echo(f"TLC: {said if len(logs) == 1 else f'{file.name} {said}'}", err=True)
    if len(logs) > 1:
        seconds = time.monotonic() - started
        typer.echo(f"TLC: {len(logs):,} logs, {count:,} events in {seconds:.1f} s", err=True)
    return [EXIT_CODES[each.status] for each in judged]
