"""Seeded faults: each replaces one function of a private copy, is told, and can be judged by name."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

import pytest

from mmcache_ref import reference
from mmcache_ref.faults import FAULTS, Fault, namespace
from mmcache_ref.faults.install import copy_of_packages, names, unwrapped
from mmcache_ref.oracle.clauses import all_clauses, spec_directory
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.guard import TargetHung, hang_guard
from mmcache_ref.oracle.searches import search_for
from mmcache_ref.oracle.targets import check_target, resolve

faults = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
ROW = re.compile(r"^\| ([DS]\d\d) \| (.*?) \| (.*?) \|$", re.MULTILINE)
FIELD = {row[1]: row for row in ROW.finditer((spec_directory() / "faults.md").read_text(encoding="utf-8"))}
"""The rows of `spec/faults.md`: what happened, with the threads, and the clauses that answer it."""


def contents(code: CodeType) -> tuple[Any, ...]:
    """What a code object does, without what the interpreter notes in it while it runs."""
    constants = tuple(contents(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    return code.co_code, code.co_names, code.co_varnames, code.co_firstlineno, constants


def functions(modules: dict[str, ModuleType], alias: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every function that the modules define, as `package.module:name`, with what its code does."""
    for name, module in modules.items():
        for bound, value in vars(module).items():
            holders: dict[str, Any] = {bound: value}
            if inspect.isclass(value):
                holders = {f"{bound}.{inner}": member for inner, member in vars(value).items()}
            for path, member in holders.items():
                function = unwrapped(member)
                if inspect.isfunction(function) and function.__module__ == name:
                    yield f"{name.removeprefix(f'{alias}.')}:{path}", contents(function.__code__)


@pytest.fixture(scope="module")
def pristine() -> dict[str, tuple[Any, ...]]:
    """The functions of a copy in which nothing was replaced."""
    alias = "mmcache_ref_pristine_copy"
    return dict(functions(copy_of_packages(alias), alias))


def modules_of(alias: str) -> dict[str, ModuleType]:
    """The loaded modules below a package."""
    parts = (f"{alias}.reference", f"{alias}.protocol")
    return {name: module for name, module in sys.modules.items() if name.startswith(parts)}


def changed(these: dict[str, Any], those: dict[str, Any]) -> set[str]:
    """The functions of `these` that are others in `those`."""
    return {name for name, code in these.items() if code != those[name]}


@faults
def test_it_replaces_exactly_one_function(fault: Fault, pristine: dict[str, tuple[Any, ...]]) -> None:
    namespace(fault.name)
    alias = f"mmcache_ref_with_{fault.name}"
    faulty = dict(functions(modules_of(alias), alias))
    assert faulty.keys() == pristine.keys()
    assert changed(faulty, pristine) == {fault.replaces}


def test_the_real_packages_are_untouched() -> None:
    before = dict(functions(modules_of("mmcache_ref"), "mmcache_ref"))
    for fault in FAULTS.values():
        names(dataclasses.replace(fault, name=f"{fault.name}_once_more"))
    assert dict(functions(modules_of("mmcache_ref"), "mmcache_ref")) == before


def test_faults_live_beside_each_other() -> None:
    touches = {name: namespace(name).LRUCache.touch for name in ("D05", "D06")}
    assert touches["D06"].__code__ is FAULTS["D06"].rule.__code__
    assert contents(touches["D05"].__code__) == contents(reference.LRUCache.touch.__code__)


def test_asking_again_gives_the_same_classes() -> None:
    assert resolve("fault:D06").LRUCache is resolve("fault:D06").LRUCache


def test_a_rule_keeps_what_wraps_the_original() -> None:
    assert namespace("D18").MultiModalCache.get_item_size([7]) == sys.getsizeof(7)


def test_a_rule_raises_the_errors_of_its_copy() -> None:
    cache = namespace("D09").LruKeyReplicatedReceiverCache(reference.ModelConfig())
    with pytest.raises(namespace("D09").MultiModalCacheMissError):
        cache.get_and_update_item(None, "absent")


def test_every_field_fault_is_seeded() -> None:
    assert list(FAULTS) == list(FIELD)


@pytest.mark.parametrize("name", FIELD)
def test_every_clause_that_says_it_answers_a_field_fault_stands_in_its_row(name: str) -> None:
    answered = FIELD[name][3].split(", ")
    assert set(answered) <= all_clauses().keys()
    assert {each.id for each in all_clauses().values() if name in each.faults} <= set(answered)


@faults
def test_it_agrees_with_the_table_of_field_faults(fault: Fault) -> None:
    happened, answered = FIELD[fault.name].group(2, 3)
    assert fault.clauses[0] in answered.split(", ")
    assert set(fault.upstream) == set(re.findall(r"#\d+", happened))


@faults
def test_it_names_known_things(fault: Fault) -> None:
    assert fault.component in COMPONENTS
    assert set(fault.clauses) <= all_clauses().keys()
    search = search_for(fault)
    assert set(fault.accidents) <= search.accidents
    assert set(fault.without) <= search.protections


@faults
def test_it_tells_its_story(fault: Fault) -> None:
    first, blank, *rest = fault.story.splitlines()
    assert first.endswith("]")
    assert set(re.findall(r"[A-Z]+-\d\d", first)) <= set(fault.clauses)
    assert blank == ""
    assert 2 <= len(rest) <= 9


def test_a_ghost_is_found_nowhere_but_in_the_order_until_an_eviction_spins() -> None:
    cache = namespace("D06").LRUCache(2)
    cache.touch("ghost")
    cache.put("a", 1)
    assert list(cache.order) == ["ghost", "a"]
    assert "ghost" not in cache
    assert len(cache) == 1
    assert cache.get("ghost") is None
    cache.put("b", 1)
    with hang_guard(0.2) as guard, pytest.raises(TargetHung), guard:
        cache.put("c", 1)


@pytest.mark.parametrize("name", ["D99", "", "d06 "])
def test_an_unknown_fault_is_a_usage_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match="D02" if name else "fault:NAME"):
        check_target(f"fault:{name}")
