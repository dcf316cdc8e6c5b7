"""Which lines and operations of a target are yield points, and the trace function that stops at them.

A line is a yield point unless nothing in it can touch what other threads see: the segment is reached by
calls, subscripts, comparisons, arithmetic, unpacking and iteration only, and a line that has none of these
moves names, constants and attributes of objects that belong to one thread. Of the others `own_lines` looks
at what they name. Stopping before a line that touches nothing is the same as stopping before the next yield
point, since nobody else can tell the two apart. A call that has touched all it will may end at once: that it
ended earlier makes a run only harder to explain.

Whether an object is true is taken to be its own affair. Where threads share objects, or a module uses
ctypes, whose attributes are bytes of the segment, attributes count as well, and whatever a line names.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

from mmcache_ref.oracle.interleaving.own_lines import OwnLines, instructions_of
from mmcache_ref.oracle.interleaving.places import Place
from mmcache_ref.oracle.interleaving.scheduler import Execution

OWN: Final = frozenset(
    """
    BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP BUILD_SET BUILD_SLICE BUILD_TUPLE CACHE CHECK_EXC_MATCH COPY
    COPY_FREE_VARS DELETE_FAST END_FOR END_SEND EXTENDED_ARG GET_ITER IS_OP JUMP_BACKWARD
    JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP KW_NAMES
    LOAD_ASSERTION_ERROR LOAD_CLOSURE LOAD_COMMON_CONSTANT LOAD_CONST LOAD_FAST LOAD_FAST_AND_CLEAR
    LOAD_FAST_BORROW LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_GLOBAL
    LOAD_SMALL_INT MAKE_CELL MAKE_FUNCTION NOP NOT_TAKEN POP_EXCEPT POP_ITER POP_JUMP_BACKWARD_IF_FALSE
    POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_TRUE
    POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_TRUE
    POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE POP_TOP PRECALL PUSH_EXC_INFO
    PUSH_NULL RAISE_VARARGS RERAISE RESUME RETURN_CONST RETURN_GENERATOR RETURN_VALUE SET_FUNCTION_ATTRIBUTE
    STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST SWAP TO_BOOL UNARY_NOT YIELD_VALUE
    """.split()  # noqa: SIM905
)
"""Operations on what belongs to one thread. One that is not named here may touch anything."""
ATTRIBUTES: Final = frozenset(
    """
    DELETE_ATTR DELETE_DEREF LOAD_ATTR LOAD_CLASSDEREF LOAD_DEREF LOAD_METHOD LOAD_NAME LOAD_SUPER_ATTR
    STORE_ATTR STORE_DEREF
    """.split()  # noqa: SIM905
)
"""Operations on attributes and on names of enclosing functions."""


class Touching(NamedTuple):
    """The operations of a code object that can touch what others see: the line of each, and how many a line
    has. `is_shared`: every object that is named may be seen by others; `has_fine`: in some line every one of
    them is stopped at."""

    line_of: dict[int, int]
    counts: dict[int, int]
    is_shared: bool
    has_fine: bool

    def count(self, line: int) -> int:
        """How many of them the line has."""
        return self.counts.get(line, 0)


class Tracer:
    """Stops an execution at the yield points of some files.

    `stops` are lines before which it stops in any case, and `fine` are lines within which it stops before
    each operation that can touch what others see; with `all_fine` every line is. `shares_objects`: the
    threads share Python objects.
    """

    def __init__(
        self,
        paths: Collection[str],
        *,
        fine: Collection[tuple[str, int]] = (),
        all_fine: bool = False,
        stops: Collection[tuple[str, int]] = (),
        shares_objects: bool = False,
    ) -> None:
        self._paths = frozenset(paths)
        self._fine = frozenset(fine)
        self._all_fine = all_fine
        self._stops = frozenset(stops)
        self._shares_objects = shares_objects
        self._own_lines = OwnLines(self._paths)
        self._known: dict[CodeType, Touching] = {}

    def touching(self, frame: FrameType) -> Touching:
        """What of the frame's code can touch what others see."""
        code = frame.f_code
        if code not in self._known:
            is_shared = self._shares_objects or _uses_ctypes(frame.f_globals)
            line_of = _operations(code, OWN if is_shared else OWN | ATTRIBUTES)
            counts = dict(Counter(line_of.values()))
            has_fine = any(self._is_fine(code, line) for line in counts)
            self._known[code] = Touching(line_of, counts, is_shared, has_fine)
        return self._known[code]

    def _is_fine(self, code: CodeType, line: int) -> bool:
        return self._all_fine or (code.co_filename, line) in self._fine

    def divisible(self, lines: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
        """Those of the lines that have more than one operation that can touch what others see."""
        return {
            (path, line)
            for path, line in lines
            for code, touching in self._known.items()
            if code.co_filename == path and touching.count(line) > 1
        }

    def body(self, execution: Execution, work: Callable[[], None]) -> Callable[[], None]:
        """The work, traced."""

        def traced() -> None:
            sys.settrace(self._calls(execution))
            try:
                work()
            finally:
                sys.settrace(None)

        return traced

    def _stops_at(self, frame: FrameType) -> bool:
        """Is the line that the frame is about to run a yield point?"""
        touching = self._known[frame.f_code]
        if (frame.f_code.co_filename, frame.f_lineno) in self._stops:
            return True
        operations = touching.count(frame.f_lineno)
        if not operations or touching.is_shared:
            return bool(operations)
        return not self._own_lines.is_own(frame, operations)

    def _calls(self, execution: Execution) -> Any:
        """The trace function of a thread: it looks at lines of the files alone."""
        fresh = 0
        """Says of which frame the line was a yield point a moment ago: its first operation is none."""

        def on_line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal fresh
            if event == "line":
                fresh = 0
                if self._stops_at(frame):
                    execution.arrive(Place(frame.f_code.co_filename, frame.f_lineno))
                    fresh = id(frame)
            elif event == "opcode":
                line = self._known[frame.f_code].line_of.get(frame.f_lasti)
                if line is not None:
                    is_first, fresh = fresh == id(frame), 0
                    if self._is_fine(frame.f_code, line) and not is_first:
                        execution.arrive(Place(frame.f_code.co_filename, line, frame.f_lasti))
            return on_line

        def on_call(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename not in self._paths:
                return None
            if self.touching(frame).has_fine:
                frame.f_trace = (
                    on_line  # from Python 3.13 on it must be there before operations are asked for
                )
                frame.f_trace_opcodes = True
            return on_line

        return on_call


def _operations(code: CodeType, own: Collection[str]) -> dict[int, int]:
    """The offsets of the operations that are not one's own, with their lines."""
    return {each.offset: line for line, each in instructions_of(code) if each.opname not in own}


def _uses_ctypes(names: dict[str, Any]) -> bool:
    """Does a module know ctypes, or a structure of it?"""
    return any(
        (isinstance(each, ModuleType) and each.__name__ == "ctypes")
        or (isinstance(each, type) and issubclass(each, ctypes.Structure | ctypes.Union))
        for each in list(names.values())
    )


def paths_of(*classes: type) -> set[str]:
    """The files in which the functions of these classes are written, and those they inherit."""
    return {
        function.__code__.co_filename
        for each in classes
        for base in each.__mro__
        for function in _functions(base)
    }


def _functions(owner: type) -> Iterator[FunctionType]:
    for value in vars(owner).values():
        if isinstance(value, property):
            value = value.fget
        value = getattr(value, "__func__", value)
        if callable(value):
            value = inspect.unwrap(value)
        if isinstance(value, FunctionType):
            yield value
