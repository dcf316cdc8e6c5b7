"""`mmcache-ref trace`: event logs, shown as lanes and judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group

from mmcache_ref.cli.console import BAD_RUN, fail, progress_lines, show
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
    file: Annotated[Path, typer.Argument(help="An event log, as simulate --trace writes it.")],
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Of check; lanes are always text.")
    ] = "text",
    tlc: Annotated[
        bool, typer.Option("--tlc", help="Let TLC judge the log, too, by models/TraceKeyReplicated.tla.")
    ] = False,
) -> None:
    """Show or judge what processes wrote down of what they did; spec/10-event-logs.md says how to write it.

    A log is judged without a clock: the order within each process counts, and which message was made before
    it was taken. Exits with 2 where no behaviour of the model explains the log, with 4 where it is none.

    Example: mmcache-ref trace check run.ndjson
    """
    log, checked, order = _judged(file)
    if action == "show":
        show(lanes(log.header, order, checked.unexplained))
        if checked.status == "conforms":
            return
        show(Group("", check_text(file, checked)))
    else:
        show({"text": check_text, "json": check_json}[output_format](file, checked))
        if tlc:
            raise typer.Exit(max(EXIT_CODES[checked.status], _judged_by_tlc(log)))
    raise typer.Exit(EXIT_CODES[checked.status])


def _judged(file: Path) -> tuple[Log, Checked, list[Explained]]:
    try:
        log = read_log(file)
        config_of(log.header)
    except BadLog as error:
        fail(str(error), BAD_RUN)
    except ValueError as error:
        fail(f"line 1 is no header of an event log: {error}", BAD_RUN)
    with progress_lines() as progress:
        progress.add_task(file.name, what=f"{len(log.entries):,} events")
        return log, *check(log)


def _judged_by_tlc(log: Log) -> int:
    """What TLC says of a log, on a line to stderr; the exit code of that."""
    from mmcache_ref.tlc.tools import ToolMissing
    from mmcache_ref.tlc.traces import judge

    with progress_lines() as progress:
        progress.add_task("TLC", what=f"{len(log.entries):,} events")
        try:
            judged = judge([log])[0]
        except ToolMissing as error:
            fail(str(error), EXIT_CODES["undetermined"])
    ends = "; ".join(f"line {line}, {event.process}: {event.did}" for line, event in judged.first)
    told = [f"TLC: {judged.status}", judged.reason, f"no order goes on at: {ends}" if ends else ""]
    typer.echo(". ".join(part for part in told if part), err=True)
    return EXIT_CODES[judged.status]
