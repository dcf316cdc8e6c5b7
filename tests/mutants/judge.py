"""One mutant before the oracle, in a process that has not imported what is mutated."""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.exhaustive import execute_graphs
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Mismatch
from mutants.generate import first_line, is_docstring

PACKAGE: Final = "mmcache_ref"
MUTATED: Final = ("reference", "protocol")
"""The packages whose modules are mutated."""
SEED: Final = 0
"""A mutant meets the same examples in every run."""


NOTED: Final = "_executed_lines"
"""The name of the set in which a module notes what it executes."""


class Kill(msgspec.Struct, frozen=True):
    """How a mutant was told from the reference.

    `stage`: import, set-up, exhaustive or fuzz; or how its process ended: time or exit. `clause` and
    `operations` are of the first violation.
    """

    stage: str
    component: str = ""
    clause: str = ""
    operations: int = 0
    says: str = ""


class Killed(BaseException):
    """The first violation ends the judgement. No `Exception`, so nothing on the way swallows it."""

    def __init__(self, kill: Kill) -> None:
        super().__init__(kill.says)
        self.kill = kill


def subject() -> Namespace:
    """The reference with its protocol, as they are imported now."""
    names: dict[str, Any] = {}
    for package in MUTATED:
        module = importlib.import_module(f"{PACKAGE}.{package}")
        names |= {name: getattr(module, name) for name in module.__all__}
    return Namespace(SimpleNamespace(**names), "reference")


def import_everything() -> None:
    """Import whatever a judgement needs and use it once, then forget what is mutated.

    What is slow when it is first used (torch, above all) must not be mistaken for a mutant that hangs.
    """
    with suppress(ImportError):
        importlib.import_module("torch").set_num_threads(1)
    namespace = subject()
    for name in COMPONENTS:
        run_stage(namespace, name, "fuzz", 1)
    forget()


def forget() -> None:
    """What is mutated is imported anew when it is next asked for."""
    packages = tuple(f"{PACKAGE}.{package}" for package in MUTATED)
    for module in list(sys.modules):
        if module.startswith(packages):
            del sys.modules[module]


def judge(
    module: str, source: str, graphs: Sequence[str], fuzzed: Sequence[str], examples: int
) -> Kill | None:
    """Import everything with one module changed, then the oracle on each component; None if it survives.

    Some components are fuzzed with so many examples each, which is quick; then their graphs are executed, and
    the others are fuzzed.
    """
    forget()
    sys.meta_path.insert(0, _Changed(module, source))
    try:
        try:
            namespace = subject()
        except Exception as error:
            raise Killed(Kill("import", says=f"{type(error).__name__}: {error}")) from error
        others = [component for component in fuzzed if component not in graphs]
        for stage, components in (("fuzz", graphs), ("exhaustive", graphs), ("fuzz", others)):
            for component in components:
                run_stage(namespace, component, stage, examples)
    except Killed as killed:
        return killed.kill
    return None


def run_stage(namespace: Any, name: str, stage: str, examples: int) -> None:
    """One stage of the oracle on one component; `Killed` at the first violation."""
    component = COMPONENTS[name]
    with hang_guard() as guard, _first_violation_kills(name, stage):
        trial = Trial(component, namespace, guard=guard)
        try:
            if stage == "exhaustive":
                execute_graphs(trial)
            else:
                fuzz(trial, seconds=math.inf, seed=SEED, max_examples=examples)
        except NotOffered as error:
            raise Killed(Kill("set-up", name, says=str(error))) from error


@contextmanager
def _first_violation_kills(name: str, stage: str) -> Iterator[None]:
    """Inside, a mismatch of any lockstep raises `Killed`."""
    perform = Lockstep.perform

    def perform_or_kill(self: Lockstep, operation: Op) -> Mismatch | None:
        mismatch = perform(self, operation)
        if mismatch is not None:
            says = f"{mismatch.aspect} is {mismatch.actual}, not {mismatch.expected}"[:300]
            raise Killed(Kill(stage, name, mismatch.clause, len(self.performed), says))
        return None

    Lockstep.perform = perform_or_kill  # type: ignore[method-assign]
    try:
        yield
    finally:
        Lockstep.perform = perform  # type: ignore[method-assign]


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):  # type: ignore[misc]
    """Imports one module from a source that is in no file."""

    def __init__(self, module: str, source: str) -> None:
        self._module = f"{PACKAGE}.{module}"
        self._source = source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._module else None

    def get_filename(self, fullname: str) -> str:
        return f"<mutant of {fullname}>"

    def get_data(self, path: Any) -> bytes:
        return self._source.encode()


class _Noting(_Changed):
    """Imports one module so that it notes the first line of each statement that it executes."""

    def __init__(self, module: str, source: str) -> None:
        super().__init__(module, noting(source))
        self.noted: set[int] = set()

    def exec_module(self, module: Any) -> None:
        module.__dict__[NOTED] = self.noted
        super().exec_module(module)


def noting(source: str) -> str:
    """The module with a note before each statement."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [each for statement in block for each in _noted(statement)])
    return ast.unparse(tree)


def _noted(statement: ast.stmt) -> list[ast.stmt]:
    """A statement behind its note; what must stand first in a module or a body has none."""
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    if is_future or is_docstring(statement):
        return [statement]
    return [*ast.parse(f"{NOTED}.add({first_line(statement)})").body, statement]


class Executed(msgspec.Struct):
    """The first lines of the statements of each module that the import executes, and later one component."""

    at_import: dict[str, set[int]]
    later: dict[str, set[int]]


def executed(sources: dict[str, str], component: str, examples: int) -> Executed:
    """Judge the reference as it is, and note what it executes.

    Raises `Killed` when the reference violates a clause: then no mutant can be judged.
    """
    forget()
    loaders = {module: _Noting(module, source) for module, source in sources.items()}
    sys.meta_path[:0] = loaders.values()
    namespace = subject()
    at_import = {module: set(loader.noted) for module, loader in loaders.items()}
    for loader in loaders.values():
        loader.noted.clear()
    for stage in ("exhaustive", "fuzz"):
        run_stage(namespace, component, stage, examples)
    return Executed(at_import, {module: loader.noted for module, loader in loaders.items()})
