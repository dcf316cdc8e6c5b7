"""The mutants of a source file: those of cosmic-ray's operators and of ours, without what changes nothing."""

from __future__ import annotations

import ast
import difflib
import pickle
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor

from mutants.operators import OPERATORS


@dataclass(frozen=True, order=True)
class Name:
    """What a mutant is called: it stays the same when other lines of the file move or change.

    `line` and `becomes` are the changed lines without their indentation;
    `nth` counts equal ones in a function.
    """

    module: str
    function: str
    line: str
    becomes: str
    nth: int = 1

    def __str__(self) -> str:
        again = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.module}:{self.function or '(module)'}: {self.line} => {self.becomes}{again}"


@dataclass(frozen=True)
class Mutant:
    """A changed module; `statement` is the first line of the statement that changed."""

    name: Name
    operator: str
    lineno: int
    statement: int
    source: str = field(repr=False)
    diff: str = field(repr=False)


def mutants_of(module: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module that can be compiled, and to other code than the module.

    Annotations, aliases of types and docstrings decide nothing: a change of these is none.
    """
    original = essence(source)
    tree = ast.parse(source)
    parsed = get_ast(source)
    nodes = list(ast_nodes(parsed))
    # A copy of the parsed module costs a fraction of parsing it again for each mutant.
    pickled = pickle.dumps(parsed)
    names: Counter[Name] = Counter()
    met = set()
    for label, operator in _operators():
        positions = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (lineno, _) in enumerate(positions):
            changed = MutationVisitor(occurrence, operator).walk(pickle.loads(pickled)).get_code()
            code = essence(changed)
            if not code or code == original or code in met:
                continue
            met.add(code)
            diff = list(difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=2))[2:]
            line, becomes = _lines(diff, "-"), _lines(diff, "+")
            name = Name(module, _function(tree, lineno), line, becomes)
            names[name] += 1
            name = Name(name.module, name.function, line, becomes, names[name])
            yield Mutant(name, label, lineno, _statement(tree, lineno), changed, "\n".join(diff))


_ARITHMETIC: Final = frozenset(
    {"Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul"}
)
"""One other operator for each: the eleven others give nonsense, and a high score for finding it."""


@cache
def _operators() -> tuple[tuple[str, Any], ...]:
    """Each operator that takes no arguments and is wanted, by its name."""
    names = [name for name in cosmic_ray.plugins.operator_names() if name.startswith("core/")]
    theirs = [(name.removeprefix("core/"), cosmic_ray.plugins.get_operator(name)) for name in names]
    ours = [(each.__name__, each) for each in OPERATORS]
    return tuple(
        (name, each()) for name, each in [*theirs, *ours] if not each.arguments() and _is_wanted(name)
    )


def _is_wanted(name: str) -> bool:
    """Is an operator's mutant a mistake that somebody makes?"""
    kind, _, change = name.partition("_")
    if kind == "ReplaceBinaryOperator":
        return change in _ARITHMETIC
    if kind == "ReplaceComparisonOperator":
        # Whether equal numbers are one object is Python's choice.
        before, after = change.split("_")
        return before.startswith("Is") or not after.startswith("Is")
    return True


def essence(source: str) -> str:
    """A module without docstrings, types and layout; empty when it cannot be compiled.

    Whether a parameter may be passed by position or by name is left out too: cosmic-ray takes the `*` between
    parameters for a multiplication.
    """
    try:
        tree = ast.parse(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return ""
    for node in ast.walk(tree):
        match node:
            case ast.arguments():
                node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
                node.defaults = [*node.defaults, *(each for each in node.kw_defaults if each is not None)]
                node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
            case ast.arg():
                node.annotation = None
            case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
                node.value = None
            case ast.Assign(value=ast.Call(func=ast.Name("TypeVar"))):
                node.value = ast.Constant("")
            case ast.AnnAssign():
                node.annotation = ast.Constant("")
            case ast.FunctionDef():
                node.returns = None
                node.decorator_list = [each for each in node.decorator_list if not _is_declaration(each)]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [each for each in node.body if not is_docstring(each)] or [ast.Pass()]
    return ast.dump(tree)


def _is_declaration(decorator: ast.expr) -> bool:
    """Does a decorator speak to type checkers and authors of subclasses only?"""
    return isinstance(decorator, ast.Name) and decorator.id in ("abstractmethod", "overload")


def is_docstring(statement: ast.stmt) -> bool:
    """Is it a string, or `...`, that nobody reads?"""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str | type(...))
    )


def _lines(diff: list[str], sign: str) -> str:
    return " | ".join(line[1:].strip() for line in diff if line.startswith(sign))


def _function(tree: ast.Module, lineno: int) -> str:
    """The qualified name of what is defined around a line; empty at the level of the module."""
    names: list[str] = []
    node: ast.AST = tree
    while True:
        inner = [
            child
            for child in ast.walk(node)
            if child is not node
            and isinstance(child, ast.FunctionDef | ast.ClassDef)
            and first_line(child) <= lineno <= (child.end_lineno or 0)
        ]
        if not inner:
            return ".".join(names)
        outermost = min(inner, key=first_line)
        assert isinstance(outermost, ast.FunctionDef | ast.ClassDef)
        names.append(outermost.name)
        node = outermost


def _statement(tree: ast.Module, lineno: int) -> int:
    """The first line of the innermost statement around a line: of a head, that of the compound statement."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and first_line(node) <= lineno <= (node.end_lineno or node.lineno)
    ]
    return max(map(first_line, around), default=lineno)


def first_line(node: Any) -> int:
    """The line at which a statement begins, with its decorators."""
    decorators = getattr(node, "decorator_list", [])
    return min(int(each.lineno) for each in (node, *decorators))


def mutated_modules(root: Path, packages: tuple[str, ...]) -> dict[str, Path]:
    """The modules of the packages that are mutated, below `root`: `reference.lru` to its file."""
    return {
        f"{package}.{path.stem}": path
        for package in packages
        for path in sorted((root / "mmcache_ref" / package).glob("*.py"))
        if path.stem != "__init__"
    }
