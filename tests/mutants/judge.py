"""One mutant before the oracle, in a process that has not imported what is mutated."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import CodeType, FrameType, SimpleNamespace
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.exhaustive import execute_graph
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Mismatch

PACKAGE: Final = "mmcache_ref"
MUTATED: Final = ("reference", "protocol")
"""The packages whose modules are mutated."""
SEED: Final = 0
"""A mutant meets the same examples in every run."""


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

    The graphs of some components are executed, then components are fuzzed with so many examples each.
    """
    forget()
    sys.meta_path.insert(0, _Changed(f"{PACKAGE}.{module}", source))
    try:
        try:
            namespace = subject()
        except Exception as error:
            raise Killed(Kill("import", says=f"{type(error).__name__}: {error}")) from error
        for stage, components in (("exhaustive", graphs), ("fuzz", fuzzed)):
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
                execute_graph(trial, component.executed_config)
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
        self._module = module
        self._source = source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._module else None

    def get_filename(self, fullname: str) -> str:
        return f"<mutant of {fullname}>"

    def get_data(self, path: Any) -> bytes:
        return self._source.encode()


class Lines(msgspec.Struct):
    """Which lines of which module are executed: while the reference is imported, and by one component."""

    at_import: dict[str, set[int]]
    later: dict[str, set[int]]


def executed_lines(files: dict[str, str], component: str, examples: int) -> Lines:
    """Judge the reference as it is and note the lines; `files` maps each module to its file.

    Raises `Killed` when the reference violates a clause: then no mutant can be judged.
    """
    modules = {path: module for module, path in files.items()}
    noted: defaultdict[str, set[int]] = defaultdict(set)

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if (module := modules.get(frame.f_code.co_filename)) is None:
            return None
        lines = noted[module]
        lines.add(frame.f_lineno)

        def note(frame: FrameType, event: str, argument: object) -> Any:
            lines.add(frame.f_lineno)
            return note

        return note

    sys.settrace(trace)
    try:
        namespace = subject()
        at_import = {module: set(lines) for module, lines in noted.items()}
        noted.clear()
        for stage in ("exhaustive", "fuzz"):
            run_stage(namespace, component, stage, examples)
    finally:
        sys.settrace(None)
    return Lines(at_import, dict(noted))


def lines_with_code(source: str) -> set[int]:
    """The lines of a module that a tracer can see."""
    found: set[int] = set()
    waiting = [compile(source, "module", "exec")]
    while waiting:
        code = waiting.pop()
        found |= {line for _, _, line in code.co_lines() if line is not None}
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found
