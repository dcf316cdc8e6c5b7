"""`mmcache-ref shm`: the shared-memory segments of this library, and what dead writers left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
import typer
from rich.table import Table

from mmcache_ref.cli.console import USAGE, fail, output, show
from mmcache_ref.oracle import segments
from mmcache_ref.reference.segments import SHOWN_IN, SegmentSeen, list_segments, remove_stale

MEBIBYTE = 2**20


def shm(
    action: Annotated[
        Literal["list", "clean"], typer.Argument(help="Show the segments, or remove those of dead writers.")
    ],
    names: Annotated[
        list[str] | None, typer.Argument(help="Only the segments of these names; all of them unless given.")
    ] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Show shared memory, or remove what dead writers left.

    They are those of this library and of judged targets.

    A writer removes its segment when it ends; one that was killed hard cannot. `clean` never removes a
    segment whose writer lives or cannot be seen from here, nor one of another program.

    Example: mmcache-ref shm list
    """
    try:
        if action == "list":
            seen = _with_those_of_targets(list_segments(), segments.of_targets())
            found = [each for each in seen if not names or each.name in names]
        else:
            found = _with_those_of_targets(remove_stale(names or None), segments.sweep(names or None))
    except NotImplementedError as error:
        fail(str(error), USAGE)
    if output_format == "json":
        show(msgspec.json.encode([each._asdict() for each in found]).decode() + "\n")
    elif action == "clean":
        _tell_removed(found)
    else:
        _tell_seen(found, is_asked_for=bool(names))


def _with_those_of_targets(
    found: list[SegmentSeen], others: Iterable[segments.OfTarget]
) -> list[SegmentSeen]:
    """Also those that judged targets made, which may not say whose they are."""
    known = {each.name for each in found}
    return found + [SegmentSeen(*each) for each in others if each.name not in known]


def _tell_seen(found: list[SegmentSeen], *, is_asked_for: bool) -> None:
    if not found:
        output.print(f"{SHOWN_IN} holds no {'such ' if is_asked_for else ''}segment of this library.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("name", "MiB", "writer", "state"):
        table.add_column(title, justify="right" if title == "MiB" else "left")
    for each in found:
        state = "left by a dead writer" if each.is_stale else "in use"
        table.add_row(each.name, _mebibytes(each), _writer(each), state)
    show(table)
    if any(each.is_stale for each in found):
        output.print("Remove what dead writers left: mmcache-ref shm clean")


def _tell_removed(found: list[SegmentSeen]) -> None:
    for each in found:
        output.print(
            f"removed {each.name}: {_mebibytes(each)} MiB, left by {_writer(each, 'an unknown process')}"
        )
    if not found:
        output.print("Nothing to remove: no dead writer left a segment.")


def _writer(segment: SegmentSeen, if_unknown: str = "unknown") -> str:
    return f"process {segment.pid}" if segment.pid else if_unknown


def _mebibytes(segment: SegmentSeen) -> str:
    return f"{segment.capacity / MEBIBYTE:,.2f}"
