"""`mmcache-ref clauses` and `faults`: what is specified, and what went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mmcache_ref.cli.console import fail, messages, output, show
from mmcache_ref.oracle import clauses as specification
from mmcache_ref.oracle.errors import UnknownClause
from mmcache_ref.oracle.matrix import VIEWS, matrix, missing, tests_directory
from mmcache_ref.oracle.regressions import run_file
from mmcache_ref.oracle.targets import seeded_faults
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.clauses import clause_text, matrix_table
from mmcache_ref.report.faults import fault_text, faults_table


def show_clauses(
    identifier: Annotated[str | None, typer.Argument(help="Print this clause.")] = None,
    missing_only: Annotated[
        bool, typer.Option("--missing", help="Print the holes of the matrix; exit with 2 if there are any.")
    ] = False,
) -> None:
    """Print a clause, or the matrix of clauses and their views.

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


def faults(
    name: Annotated[str | None, typer.Argument(help="Tell this one.")] = None,
) -> None:
    """List the seeded faults, or tell the story of one.

    That is what went wrong, the replaced rule, and how to see it.

    Example: mmcache-ref faults S03
    """
    if name is None:
        output.print(faults_table(seeded_faults().FAULTS.values()))
        return
    (known,) = fault_names([name])
    show(fault_text(seeded_faults().FAULTS[known], run_file=_shown(run_file(known))))


def _shown(path: Path | None) -> str | None:
    """A path from here, where it is below the current folder."""
    if path is None:
        return None
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def fault_names(names: list[str]) -> list[str]:
    """The names in capitals, each once, all faults for none; a usage error for one that is unknown."""
    known = list(seeded_faults().FAULTS)
    chosen = list(dict.fromkeys(name.upper() for name in names)) or known
    for name in chosen:
        if name not in known:
            raise typer.BadParameter(f"no fault {name!r}: take one of {', '.join(known)}")
    return chosen
