"""Which lines are yield points: all that can touch a segment, and as few others as can be told."""

from __future__ import annotations

import importlib
import numbers
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref.oracle.interleaving.explore import Node, chooser
from mmcache_ref.oracle.interleaving.scheduler import Execution
from mmcache_ref.oracle.interleaving.tracing import Tracer, paths_of

COUNT = struct.Struct("<i")
VIEW = memoryview(bytearray(8))


class Shelf:
    """Something with a view, and with things that are its own."""

    shared = VIEW

    def __init__(self) -> None:
        self.view = memoryview(bytearray(8))
        self.index = {"a": (1, 2)}
        self.numbers = [1, 2, 3]
        self.inner = SimpleNamespace(view=self.view, size=8)

    def plain(self, key: str) -> Any:
        found = self.index[key]
        total = sum(each + 1 for each in self.numbers)
        text = f"{key} {len(found)} {total}"
        self.numbers = [*self.numbers, int.from_bytes(b"ab", "little")]
        if self.inner.size > len(text) and COUNT.size == 4:
            return text
        return max(found)

    def reads_a_view(self) -> int:
        return self.view[0]

    def reads_by_struct(self) -> Any:
        return COUNT.unpack_from(self.view)

    def reads_through_another(self) -> bytes:
        return bytes(self.inner.view)

    def reads_of_its_class(self) -> int:
        return Shelf.shared[1]

    def reads_a_global(self) -> int:
        return VIEW[2]

    def compares(self) -> bool:
        first, second = self.view, VIEW
        return first == second

    def writes(self) -> None:
        self.view[0:2] = b"ab"

    def goes_through(self) -> int:
        total = 0
        for each in self.view:
            total += each
        return total

    def unpacks(self) -> int:
        first, *_ = self.view
        return int(first)

    def calls_what_is_traced(self) -> Any:
        return self.plain("a")


def stops(work: Callable[[], object], **options: Any) -> list[int]:
    """The lines of `Shelf` before which the work is stopped."""
    execution = Execution(["t0"], chooser(Node()), lambda: b"")
    tracer = Tracer({__file__}, **options)
    execution.run([tracer.body(execution, lambda: work() and None)])
    assert not execution.problem
    last = Shelf.calls_what_is_traced.__code__.co_firstlineno + 1
    return [step.place.line for step in execution.steps[1:] if step.place.line <= last]


def test_a_line_whose_names_show_no_memory_is_none() -> None:
    assert stops(lambda: Shelf.plain(SHELF, "a")) == []
    assert stops(lambda: Shelf.calls_what_is_traced(SHELF)) == []


SHELF = Shelf()


@pytest.mark.parametrize(
    "name",
    [
        "reads_a_view",
        "reads_by_struct",
        "reads_through_another",
        "reads_of_its_class",
        "reads_a_global",
        "compares",
        "writes",
        "goes_through",
        "unpacks",
    ],
)
def test_a_line_that_reaches_memory_is_one(name: str) -> None:
    assert stops(getattr(SHELF, name))


def test_where_threads_share_objects_every_line_that_names_one_is_one() -> None:
    assert len(stops(lambda: Shelf.plain(SHELF, "a"), shares_objects=True)) >= 5


def test_a_line_that_is_named_is_one_in_any_case() -> None:
    line = Shelf.plain.__code__.co_firstlineno + 1
    assert stops(lambda: Shelf.plain(SHELF, "a"), stops={(__file__, line)}) == [line]


def test_attributes_count_in_a_module_that_knows_ctypes(tmp_path: Path) -> None:
    path = tmp_path / "structures.py"
    path.write_text("import ctypes\n\ndef look(header):\n    found = header.number\n    return found\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)

    # Here, since it would make every line of this file count.
    ctypes = importlib.import_module("ctypes")
    header = type("Header", (ctypes.Structure,), {"_fields_": [("number", ctypes.c_int)]})
    execution = Execution(["t0"], chooser(Node()), lambda: b"")
    tracer = Tracer({str(path)})
    execution.run([tracer.body(execution, lambda: names["look"](header(7)))])
    assert 4 in [step.place.line for step in execution.steps[1:]]


def test_the_files_of_a_class_are_those_of_all_its_functions() -> None:
    class Derived(numbers.Complex):
        def own(self) -> None:
            pass

    assert {Path(each).name for each in paths_of(Derived)} >= {"test_interleaving_lines.py", "numbers.py"}
