"""The tables at the head of the TLA+ models name what is there in Python."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import mmcache_ref.model
import mmcache_ref.protocol
import mmcache_ref.reference
from mmcache_ref.tlc.manifest import models_directory

DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
HEAD = re.compile(r"^(?:\(\*)? +TLA\+ +Python.*$", re.MULTILINE)
FILES = re.compile(r"\w+\.py\b")


def modules_of(*packages: ModuleType) -> dict[str, ModuleType]:
    """The modules right in these packages, by their own names."""
    return {
        found.name: importlib.import_module(f"{package.__name__}.{found.name}")
        for package in packages
        for found in pkgutil.iter_modules(package.__path__)
    }


MODEL = modules_of(mmcache_ref.model)
IMPLEMENTATION = modules_of(mmcache_ref.reference, mmcache_ref.protocol)


def table_of(text: str) -> str:
    """The rows of the table of names, of which some models have none."""
    head = HEAD.search(text)
    if head is None:
        return ""
    rows = []
    for row in text[head.start() :].splitlines():
        if row.startswith("(****"):
            break
        rows.append(row)
        if row.endswith("*)") and not row.startswith("(*"):
            break
    return "\n".join(rows)


TABLES = {
    path.stem: table
    for path in sorted(models_directory().glob("*.tla"))
    if (table := table_of(path.read_text(encoding="utf-8")))
}


def member(owner: Any, name: str) -> tuple[bool, Any]:
    """Whether the owner has an attribute, and its value or its type, as far as that is known."""
    if isinstance(owner, type):
        try:
            hints = get_type_hints(owner)
        except (NameError, TypeError):
            hints = {}
        if name in hints:
            return True, hints[name]
    if hasattr(owner, name):
        return True, getattr(owner, name)
    if not isinstance(owner, type):
        return False, None
    sources = [
        inspect.getsource(base) for base in owner.__mro__ if base.__module__.startswith("mmcache_ref.")
    ]
    return any(re.search(rf"\bself\.{name}\b[^=(\n]*=", source) for source in sources), None


def has_path(owner: Any, names: list[str]) -> bool:
    """Whether each name is an attribute of what the one before it is; of an unknown type anything may be."""
    for name in names:
        is_there, owner = member(owner, name)
        if not is_there:
            return False
        if owner is None:
            return True
    return True


def owners(first: str, named_modules: list[str]) -> Iterator[Any]:
    """What the first part of a dotted name may be: a module or a class; `State` is one of the model's own."""
    if first == "mmcache_ref":
        yield mmcache_ref
    if first == "protocol":
        yield mmcache_ref.protocol
    for modules in (MODEL, IMPLEMENTATION):
        if first in modules:
            yield modules[first]
    near = [MODEL[name] for name in named_modules if name in MODEL]
    for module in near if first == "State" else [*MODEL.values(), *IMPLEMENTATION.values()]:
        if isinstance(vars(module).get(first), type):
            yield vars(module)[first]


def missing(model: str, table: str) -> list[str]:
    """The dotted names of a table that nothing in Python has."""
    text = (models_directory() / f"{model}.tla").read_text(encoding="utf-8")
    named_modules = [name.removesuffix(".py") for name in FILES.findall(text)]
    return [
        dotted
        for dotted in DOTTED.findall(table)
        if not any(
            has_path(owner, dotted.split(".")[1:])
            for owner in owners(dotted.partition(".")[0], named_modules)
        )
    ]


@pytest.mark.parametrize("model", TABLES)
def test_each_dotted_name_of_a_table_is_there(model: str) -> None:
    assert missing(model, TABLES[model]) == []


def test_the_tables_are_found() -> None:
    named = {model for model, table in TABLES.items() if DOTTED.search(table)}
    assert named >= {"Entries", "EventLogs", "Lru", "ObjectStore", "Pair", "Replication", "RingBuffer"}
    assert named >= {"RingPublication", "ShmProtocol", "ShmStore"}


@pytest.mark.parametrize(
    "name", ["LRUCache._pins", "State.ring.chunks", "entries.discard", "MultiModalProcessorSenderCache.get"]
)
def test_a_name_that_is_nowhere_is_missed(name: str) -> None:
    assert missing("Lru", f"(* pins {name} *)") == [name]


@pytest.mark.parametrize("path", sorted(models_directory().glob("*.tla")), ids=lambda path: path.stem)
def test_each_file_that_a_model_names_is_there(path: Path) -> None:
    known = {Path(str(module.__file__)).name for module in MODEL.values()}
    known |= {file.name for file in Path(mmcache_ref.__file__ or "").parent.glob("tlc/**/*.py")}
    named = set(FILES.findall(path.read_text(encoding="utf-8")))
    assert named - known == set()
