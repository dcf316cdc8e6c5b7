"""Can a line touch what other threads see? What its names denote at that moment says so.

The bytes of a segment are reached through an object that shows them: a view, an array, a store or a ring
that has one. A line whose names denote numbers, strings, containers of these, classes, modules and the like
reads and writes no byte of the segment, whatever it computes. Of an object the attributes that the line asks
for count, as far as they lie in the object's own dictionary. A call of a function that is traced touches
nothing by itself, since the lines of that function are looked at one by one. Code outside the traced files is
taken to reach the segment through what it is given, and not by ways of its own.
"""

from __future__ import annotations

import dis
import logging
import struct
import sys
from collections.abc import Collection, Iterator
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, NamedTuple

PLAIN: Final = (
    *(int, float, complex, str, bytes, type(None), range, slice, type(Ellipsis), type, ModuleType),
    *(struct.Struct, logging.Logger, BaseException),
    *(MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType, ClassMethodDescriptorType),
)
"""Objects of these types show no memory; nor does what is made of them."""
CONTAINERS: Final = (list, tuple, dict, set, frozenset)
MOST_MEMBERS: Final = 200
"""Members of a container that are looked at; a larger one may hold anything."""
ATTRIBUTE: Final = ("LOAD_ATTR", "LOAD_METHOD")
NAMES: Final = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_GLOBAL", "LOAD_DEREF")


class Chain(NamedTuple):
    """A name and the attributes that are asked of it: `self.ring.metadata`."""

    name: str
    attributes: tuple[str, ...] = ()


Chains = tuple[Chain, ...] | None
"""The chains of a line; None if it names something in a way that is not understood here."""


def instructions_of(code: CodeType) -> Iterator[tuple[int, dis.Instruction]]:
    """The operations of the code, each with its line."""
    line = code.co_firstlineno
    starts = {offset: number for offset, _, number in code.co_lines() if number is not None}
    for each in dis.get_instructions(code):
        line = starts.get(each.offset, line)
        yield line, each


def named_by_lines(code: CodeType) -> dict[int, Chains]:
    """What each line of the code names."""
    found: dict[int, list[dis.Instruction]] = {}
    for line, each in instructions_of(code):
        found.setdefault(line, []).append(each)
    return {line: _chains(instructions) for line, instructions in found.items()}


def _chains(instructions: Collection[dis.Instruction]) -> Chains:
    chains: list[Chain] = []
    is_open = False
    for each in instructions:
        if each.opname in NAMES:
            chains.append(Chain(str(each.argval)))
            is_open = True
        elif each.opname in ATTRIBUTE and is_open:
            chains[-1] = Chain(chains[-1].name, (*chains[-1].attributes, str(each.argval)))
        elif each.opname == "STORE_ATTR" and is_open:
            chains.pop()
            is_open = False
        elif each.opname.startswith(("LOAD_FAST", "LOAD_SUPER", "LOAD_NAME", "LOAD_CLASS", "IMPORT")):
            return None  # several names at once, or names that are looked for elsewhere
        elif each.opname not in ("CACHE", "EXTENDED_ARG"):
            is_open = False
    return tuple(chains)


class OwnLines:
    """Asks it of the lines of some files, whose functions are traced."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = paths
        self._known: dict[CodeType, dict[int, Chains]] = {}

    def is_own(self, frame: FrameType, operations: int) -> bool:
        """Does the line that the frame is about to run touch nothing that others see?

        `operations` is the number of its operations that could.
        """
        code = frame.f_code
        lines = self._known.get(code)
        if lines is None:
            lines = self._known[code] = named_by_lines(code)
        chains = lines.get(frame.f_lineno)
        if chains is None:
            return False
        calls_traced = False
        for chain in chains:
            found = self._denoted(frame, chain)
            if self._is_traced(found):
                calls_traced = True
            elif not self._is_plain(found):
                return False
        return operations == 1 or not calls_traced

    def _denoted(self, frame: FrameType, chain: Chain) -> Any:
        """What a chain denotes, without running any code of the target; what is not found out is a view."""
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if chain.name in names:
                found = names[chain.name]
                break
        else:
            # Not bound yet: it becomes something that the line makes of what else it names.
            return None
        for attribute in chain.attributes:
            if isinstance(found, type | ModuleType):
                found = _member(found, attribute)
            elif self._is_plain(found):
                return found
            else:
                found = _attribute(found, attribute)
        return found

    def _is_traced(self, value: Any) -> bool:
        function = value.__func__ if isinstance(value, MethodType) else value
        return isinstance(function, FunctionType) and function.__code__.co_filename in self._paths

    def _is_plain(self, value: Any, depth: int = 2) -> bool:
        kind = type(value)
        if kind in CONTAINERS:
            return (
                depth > 0
                and len(value) <= MOST_MEMBERS
                and all(self._is_plain(each, depth - 1) for each in _members(value))
            )
        if kind in ITERATORS:
            return self._is_plain(value.__reduce__()[1][0], depth)
        if kind is BuiltinFunctionType:
            return isinstance(value.__self__, ModuleType | None) or self._is_plain(value.__self__)
        if kind is FunctionType:
            return value.__module__.partition(".")[0] in sys.stdlib_module_names
        return isinstance(value, PLAIN)


UNKNOWN: Final = memoryview(b"")
"""Stands for what is not found out."""
ITERATORS: Final[tuple[type, ...]] = (type(iter([])), type(iter(())))


def _members(value: Any) -> Iterator[Any]:
    yield from value
    if isinstance(value, dict):
        yield from value.values()


def _member(owner: type | ModuleType, name: str) -> Any:
    """What a class or a module has under a name; else a view."""
    for each in owner.__mro__ if isinstance(owner, type) else (owner,):
        if name in vars(each):
            found = vars(each)[name]
            return getattr(found, "__func__", found)
    return UNKNOWN


def _attribute(value: Any, name: str) -> Any:
    """The attribute in the object's own dictionary, or the function in its class; else a view."""
    own = getattr(value, "__dict__", {})
    if type(own) is dict and name in own:
        return own[name]
    for each in type(value).__mro__:
        if name in vars(each):
            found = vars(each)[name]
            found = getattr(found, "__func__", found)
            is_simple = isinstance(found, FunctionType) or type(found) in (int, str, bytes)
            return found if is_simple else UNKNOWN
    return UNKNOWN
