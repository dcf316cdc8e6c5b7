"""`mmcache-ref interop`: implementations on one segment."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from mmcache_ref.cli.console import ProgressLines, known_targets, show
from mmcache_ref.oracle.interop import try_together
from mmcache_ref.report.interop import interop_json, interop_text

DEFAULT = ("reference", "vllm@0.32.0")


def interop(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Two or more; reference and vllm@0.32.0 unless given.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Let each target write what each other one reads.

    Objects make round trips, handles are forged, chunks are reclaimed, the store is cleared.

    Writer and readers are processes of their own over one segment, with the reference's serde. Exits with 2
    where a check fails, with 3 where one cannot be made.

    Example: mmcache-ref interop
    """
    named = targets or list(DEFAULT)
    known_targets(named)
    with ProgressLines() as progress:
        line = progress.add_task("interop", what="")
        matrix = try_together(named, lambda what: progress.update(line, what=what))
    show({"text": interop_text, "json": interop_json}[output_format](matrix))
    raise typer.Exit(matrix.exit_code)
