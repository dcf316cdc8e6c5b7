"""A private copy of the reference and the protocol, in which one function is replaced.

The copy is loaded from the same files under a package name of its own, so the real packages stay as they are
and several faults live side by side in one process.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Final

from .fault import Fault

PACKAGE: Final = Path(__file__).parent.parent
PARTS: Final = ("reference", "protocol")
"""The packages that are copied; `protocol` looks for `reference` beside itself, by relative imports."""


def names(fault: Fault) -> SimpleNamespace:
    """The public names of a copy of the reference and the protocol with the fault in it.

    Asking again gives the same names at no cost.
    """
    return _installed(fault.name, fault.replaces, fault.rule)


@cache
def _installed(name: str, replaces: str, rule: Callable[..., Any]) -> SimpleNamespace:
    alias = f"mmcache_ref_with_{name}"
    copied = copy_of_packages(alias)
    replace(copied, alias, replaces, rule)
    public = {
        exported: getattr(package, exported)
        for part in PARTS
        if (package := copied.get(f"{alias}.{part}")) is not None
        for exported in package.__all__
    }
    return SimpleNamespace(**public)


def copy_of_packages(alias: str) -> dict[str, ModuleType]:
    """Load the packages once more, below the empty package `alias`; their modules by name."""
    parent = ModuleType(alias)
    parent.__path__ = [str(PACKAGE)]
    sys.modules[alias] = parent
    for part in PARTS:
        if (PACKAGE / part / "__init__.py").is_file():
            importlib.import_module(f"{alias}.{part}")
            for path in sorted((PACKAGE / part).glob("*.py")):
                importlib.import_module(f"{alias}.{part}" + f".{path.stem}" * (path.stem != "__init__"))
    return {name: module for name, module in sys.modules.items() if name.startswith(f"{alias}.")}


def replace(copied: dict[str, ModuleType], alias: str, replaces: str, rule: Callable[..., Any]) -> None:
    """Put the rule wherever the copy binds the function that it replaces.

    The rule keeps what wraps the original (`classmethod`, `property`), and its global names are those of
    the original's module.
    """
    module_name, _, path = replaces.partition(":")
    module = copied[f"{alias}.{module_name}"]
    holder_name, _, attribute = path.rpartition(".")
    holder: Any = getattr(module, holder_name) if holder_name else module
    original = vars(holder)[attribute]
    wrapped = _wrapped_like(original, _moved(rule, module, unwrapped(original)))
    for owner, bound in _owners(copied):
        if vars(owner)[bound] is original:
            setattr(owner, bound, wrapped)


def _moved(rule: Any, module: ModuleType, original: FunctionType) -> FunctionType:
    """The rule as a function of `module`, under the original's name."""
    moved = FunctionType(
        rule.__code__, {**rule.__globals__, **vars(module)}, original.__name__, rule.__defaults__
    )
    moved.__kwdefaults__ = rule.__kwdefaults__
    moved.__qualname__ = original.__qualname__
    moved.__module__ = original.__module__
    moved.__doc__ = rule.__doc__
    return moved


def unwrapped(value: Any) -> Any:
    """The function inside a class or static method, a property, or itself."""
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return value.fget if isinstance(value, property) else value


def _wrapped_like(original: Any, function: FunctionType) -> Any:
    if isinstance(original, classmethod | staticmethod | property):
        return type(original)(function)
    return function


def _owners(copied: dict[str, ModuleType]) -> Iterator[tuple[Any, str]]:
    """Every name that a module of the copy, or a class made in one, binds."""
    for name, module in copied.items():
        for bound, value in list(vars(module).items()):
            yield module, bound
            if inspect.isclass(value) and value.__module__ == name:
                yield from ((value, inner) for inner in list(vars(value)))
