"""The matrix clause × view: which views serve which clause, found by the ids they name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from mmcache_ref.oracle.clauses import Clause, all_clauses, spec_directory

VIEWS = ("model", "reference", "test", "vector", "fault")
ID = re.compile(r"\b[A-Z]{2,4}-\d\d\b")
IN_BRACKETS = re.compile(r"\[([^\]]*)\]")


def matrix() -> dict[str, dict[str, tuple[str, ...]]]:
    """For each clause and view, the places that serve it, as `file:name`."""
    package = Path(__file__).parent.parent
    serving = {
        "model": _named_in_docstrings(package / "model"),
        "reference": _named_in_docstrings(package / "reference", package / "protocol"),
        "test": _marked_tests(tests_directory()),
        "vector": _named_in_vectors(spec_directory() / "vectors"),
        "fault": _named_in_docstrings(package / "faults"),
    }
    return {
        identifier: {view: tuple(serving[view].get(identifier, ())) for view in VIEWS}
        for identifier in all_clauses()
    }


def missing(cells: Mapping[str, Mapping[str, tuple[str, ...]]]) -> list[tuple[Clause, tuple[str, ...]]]:
    """Each MUST with the demanded views that do not serve it; tests are demanded only where there are any."""
    there = [view for view in VIEWS if view != "test" or tests_directory() is not None]
    holes = []
    for clause in all_clauses().values():
        empty = tuple(view for view in clause.views if view in there and not cells[clause.id][view])
        if clause.level == "MUST" and empty:
            holes.append((clause, empty))
    return holes


def tests_directory() -> Path | None:
    """The folder `tests/` of a checkout; None in an installed package, which has no tests."""
    folder = Path(__file__).parent.parent.parent / "tests"
    return folder if (folder / "conftest.py").is_file() else None


def _python_files(folder: Path | None) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")) if folder and folder.is_dir() else ():
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def _named_in_docstrings(*folders: Path) -> Mapping[str, list[str]]:
    """Ids in brackets on the first line of a docstring, and ids used as strings in binding tables."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in chain.from_iterable(map(_python_files, folders)):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                first_line = (ast.get_docstring(node) or "").split("\n\n")[0]
                name = getattr(node, "name", path.stem)
                for bracket in IN_BRACKETS.findall(first_line):
                    for identifier in ID.findall(bracket):
                        places[identifier].append(f"{path.name}:{name}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ID.fullmatch(node.value):
                places[node.value].append(f"{path.name}:{node.lineno}")
    return places


def _marked_tests(folder: Path | None) -> Mapping[str, list[str]]:
    """Ids in `@pytest.mark.clause(...)`, on a test, a class of tests, or in a parameter of one."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in _python_files(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.clause":
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        places[str(argument.value)].append(f"{path.name}:{node.lineno}")
    return places


def _named_in_vectors(folder: Path) -> Mapping[str, list[str]]:
    """Ids in golden vectors."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        for identifier in set(ID.findall(path.read_text(encoding="utf-8"))):
            places[identifier].append(path.name)
    return places
