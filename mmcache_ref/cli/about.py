"""`mmcache-ref schema` and `version`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

import typer

from mmcache_ref import __version__
from mmcache_ref.cli.console import output, show
from mmcache_ref.oracle.event_log import schema as event_schema
from mmcache_ref.oracle.verdict import schema as report_schema
from mmcache_ref.report.printed import json_text

SCHEMAS: Final[Mapping[str, Callable[[], Any]]] = {"report": report_schema, "events": event_schema}


def schema(
    of: Annotated[
        Literal["report", "events"], typer.Argument(help="A report of conform, or a line of an event log.")
    ] = "report",
) -> None:
    """Print the JSON schema of a report, or of an event log's line.

    Example: mmcache-ref schema > report.schema.json
    """
    show(json_text(SCHEMAS[of]()))


def version() -> None:
    """Print the version.

    Example: mmcache-ref version
    """
    output.print(__version__)
