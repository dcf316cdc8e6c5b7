"""Targets by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mmcache_ref import reference
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.namespace import RING_NAME, Namespace
from mmcache_ref.oracle.targets import check_target, resolve

GOOD = ("reference", "vllm", "vllm@0.32.0", "py:package.module", "py:package.module:name")
BAD = (
    "",
    "Reference",
    "vllm@",
    "py:",
    "py",
    "exec:./adapter",
    "torch",
    "reference ",
)

MODULE = """
import types
from mmcache_ref import reference

class AsClass:
    LRUCache = reference.LRUCache

an_instance = types.SimpleNamespace(LRUCache=reference.LRUCache)
nested = types.SimpleNamespace(inner=an_instance)

def namespace():
    return an_instance

def fails():
    raise RuntimeError("not today")

a_number = 7
LRUCache = reference.LRUCache
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A fresh module on the path, by its name."""
    (tmp_path / "their_caches.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "their_broken.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "their_caches", raising=False)
    return "their_caches"


@pytest.mark.parametrize("target", GOOD)
def test_a_name_of_a_known_kind_is_accepted_unresolved(target: str) -> None:
    check_target(target)


@pytest.mark.parametrize("target", BAD)
def test_a_name_of_no_kind_is_refused_with_the_kinds(target: str) -> None:
    with pytest.raises(ValueError, match=r"no such target.*reference, vllm, vllm@VERSION, py:"):
        check_target(target)
    with pytest.raises(ValueError, match="no such target"):
        resolve(target)


def test_the_reference_is_the_reference() -> None:
    namespace = resolve("reference")
    assert namespace.LRUCache is reference.LRUCache
    assert namespace.label == "reference"


@pytest.mark.parametrize("name", ["", ":AsClass", ":an_instance", ":nested.inner", ":namespace"])
def test_a_module_a_class_an_instance_or_a_function_is_a_target(module: str, name: str) -> None:
    namespace = resolve(f"py:{module}{name}")
    assert isinstance(namespace, Namespace)
    assert namespace.LRUCache is reference.LRUCache


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("py:no_such_package.module", "No module named 'no_such_package'"),
        ("py:their_caches:missing", "missing"),
        ("py:their_caches:fails", "RuntimeError: not today"),
        ("py:their_broken", "ZeroDivisionError"),
        ("py:their_caches:a_number", "7, not a namespace"),
    ],
)
def test_what_cannot_be_loaded_says_why(module: str, target: str, says: str) -> None:
    with pytest.raises(TargetUnavailable, match=says):
        resolve(target)


def test_an_import_that_fails_deep_inside_is_told_by_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, code in enumerate(["import deep_1", "import deep_2", "import json\n\njson.loads('{')\n"]):
        (tmp_path / f"deep_{number}.py").write_text(code, encoding="utf-8")
    (tmp_path / "deep_3.py").write_text("x = 1\ny = = 2\n", encoding="utf-8")
    (tmp_path / "deep_4.py").write_text("import no_such_part", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("deep_0", "deep_1", "deep_2", "deep_3", "deep_4"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    told = {
        "deep_0": f"JSONDecodeError: .*Raised in {tmp_path}/deep_2.py:3: json.loads",
        "deep_3": f"SyntaxError: .*Raised in {tmp_path}/deep_3.py:2: y = = 2",
        "deep_4": f"No module named 'no_such_part'. Raised in {tmp_path}/deep_4.py:1: import no_such_part$",
    }
    for name, says in told.items():
        with pytest.raises(TargetUnavailable, match=says):
            resolve(f"py:{name}")


def test_only_a_module_that_is_not_found_is_looked_for_on_the_path(module: str) -> None:
    with pytest.raises(TargetUnavailable, match="PYTHONPATH"):
        resolve("py:no_such_package.module")
    with pytest.raises(TargetUnavailable) as raised:
        resolve("py:their_broken")
    assert "PYTHONPATH" not in str(raised.value)


def test_the_current_folder_is_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "found_here.py").write_text("class LRUCache: pass\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    assert resolve("py:found_here").LRUCache.__name__ == "LRUCache"


@pytest.mark.parametrize("version", ["abc", "0.32.0/..", "latest"])
def test_what_is_no_version_is_refused_before_anything_is_fetched(version: str) -> None:
    with pytest.raises(ValueError, match="no vLLM version"):
        check_target(f"vllm@{version}")


def test_a_name_that_a_target_lacks_is_named(module: str) -> None:
    with pytest.raises(AttributeError, match="py:their_caches:namespace has no 'merge_mm_kwargs'"):
        _ = resolve(f"py:{module}:namespace").merge_mm_kwargs


@pytest.mark.upstream
def test_a_published_release_is_a_target() -> None:
    assert resolve("vllm@0.32.0").label == "vllm 0.32.0"


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no fault 'x': take one of D01, .*D19"):
        check_target("fault:x")


def test_a_ring_name_stands_in_the_environment_only_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RING_NAME, "so that it is restored")
    monkeypatch.delenv(RING_NAME)
    target = resolve("reference")
    with target.ring_named("inner"):
        assert os.environ[RING_NAME] == "inner"
    assert RING_NAME not in os.environ
    monkeypatch.setenv(RING_NAME, "outer")
    with pytest.raises(KeyError), target.ring_named("inner"):
        raise KeyError
    assert os.environ[RING_NAME] == "outer"
