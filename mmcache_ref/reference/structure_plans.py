"""Structures that come again: where each leaf lies and what is made of it, worked out once.

The objects of one model have few structures, and reading one takes longer than copying a small object. A
plan gives what `Reader` gives, which a test compares; what is rare in items has no plan and is read by
`Reader` each time.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from .copying import LARGE, copied, copied_from
from .structure_reader import ItemClasses, Reader, array_dtype, number_of_elements, tensor_form
from .structures import ARRAY, FLAT, ITEM, LIST, PLAIN, SLICE, TENSOR, TUPLE, Node, SerdeError

Build: TypeAlias = Callable[[memoryview], Any]
"""Makes a value from the leaves of its object."""

LARGEST_STRUCTURE: Final = 4096
"""Bytes of a structure for which a plan is made; a larger one holds data rather than shapes."""
MOST_PLANS: Final = 256

_decode: Final = msgspec.msgpack.Decoder().decode


class Plan(NamedTuple):
    """How many bytes the leaves of such an object have, and what builds it from them."""

    nbytes: int
    build: Build


class PlannedReader:
    """Reads objects, those of a structure that has come before by its plan.   [OS-24, OS-38]"""

    def __init__(self, classes: ItemClasses) -> None:
        self._classes = classes
        self._plans: dict[bytes, Plan | None] = {}

    def read(self, structure: bytes, leaves: memoryview) -> Any:
        """The value of that structure with these leaves.   [OS-24, OS-38]

        Raises `SerdeError`, or what msgspec, NumPy and PyTorch raise, for bytes that make no sense.
        """
        plan = self._plans.get(structure)
        if plan is not None and plan.nbytes == len(leaves):
            return plan.build(leaves)
        node = _decode(structure)
        reader = Reader(leaves, self._classes)
        value = reader.value(node)
        reader.end()
        if structure not in self._plans and len(structure) <= LARGEST_STRUCTURE:
            if len(self._plans) == MOST_PLANS:
                self._plans.clear()
            self._plans[structure] = planned(node, self._classes)
        return value


def planned(node: Node, classes: ItemClasses) -> Plan | None:
    """The plan of a structure that can be read, or `None` if it has none."""
    planning = _Planning(classes)
    try:
        build = planning.build(node)
    except SerdeError:
        return None
    return Plan(planning.position, build)


class _Planning:
    """Walks a structure as `Reader` does; `position` is where the next leaf lies."""

    def __init__(self, classes: ItemClasses) -> None:
        self.position = 0
        self._classes = classes

    def build(self, node: Node) -> Build:
        """What builds the value of this node; `SerdeError` if it has no plan."""
        if _is_plain(node):
            return lambda leaves: node
        if node[0] not in _BUILDERS:
            raise SerdeError(f"no plan for {node!r:.80}")
        return _BUILDERS[node[0]](self, node)

    def _next(self, nbytes: int) -> int:
        begin = self.position
        self.position += nbytes
        return begin

    def _list(self, node: list[Node]) -> Build:
        parts = node[1:]
        if not any(type(part) is list for part in parts):
            return lambda leaves: parts.copy()
        builds = [self.build(part) for part in parts]
        return lambda leaves: [build(leaves) for build in builds]

    def _tuple(self, node: list[Node]) -> Build:
        builds = [self.build(part) for part in node[1:]]
        return lambda leaves: tuple([build(leaves) for build in builds])

    def _tensor(self, node: list[Node]) -> Build:
        _, name, *shape = node
        dtype, from_numpy, tensor_dtype = tensor_form(name)
        nbytes = number_of_elements(shape) * dtype.itemsize
        begin = self._next(nbytes)
        if tensor_dtype is None and nbytes < LARGE:
            end, ndarray = begin + nbytes, np.ndarray  # `copied_from`, without the call
            return lambda leaves: from_numpy(ndarray(shape, dtype, bytearray(leaves[begin:end])))
        if tensor_dtype is None:
            return lambda leaves: from_numpy(copied_from(leaves, begin, nbytes, shape, dtype))
        return lambda leaves: from_numpy(copied_from(leaves, begin, nbytes, shape, dtype)).view(tensor_dtype)

    def _array(self, node: list[Node]) -> Build:
        _, name, *shape = node
        dtype = array_dtype(name)
        begin = self._next(number_of_elements(shape) * dtype.itemsize)
        return lambda leaves: copied(np.ndarray(shape, dtype, leaves, begin))

    def _slice(self, node: list[Node]) -> Build:
        """A slice of plain values is made once: it never changes."""
        if not all(_is_plain(part) for part in node[1:]):
            raise SerdeError(f"no plan for {node!r:.80}")
        made = slice(*node[1:])
        return lambda leaves: made

    def _field(self, node: list[Node]) -> Build:
        """A field: made once if all that it says is plain, else for each object, with its lists.   [OS-20]"""
        if all(_is_plain(part) for part in node):
            made = Reader(memoryview(b""), self._classes).value(node)
            return lambda leaves: made
        if node[0] != FLAT:
            raise SerdeError(f"no plan for {node!r:.80}")
        flat = self._classes.flat
        keep_on_cpu = bool(node[1])
        slices, dim = self.build(node[2]), self.build(node[3])
        return lambda leaves: flat(slices=slices(leaves), dim=dim(leaves), keep_on_cpu=keep_on_cpu)

    def _item(self, node: list[Node]) -> Build:
        """An item; the leaves of an element's field come before those of its data."""
        item: Any = self._classes.item
        element = self._classes.element
        parts = []
        for key, field, data in zip(node[1::3], node[2::3], node[3::3], strict=True):
            parts.append((key, self._field(field), self.build(data)))

        is_plain_item = getattr(item, "__init__", None) is UserDict.__init__

        def build_item(leaves: memoryview) -> Any:
            elements = {}
            for key, field, build in parts:
                elements[key] = element(field=field(leaves), data=build(leaves))
            if not is_plain_item:
                return item(elements)
            made = item.__new__(item)  # what `UserDict.__init__` does, without looking at each
            made.data = elements
            return made

        return build_item


def _is_plain(node: Node) -> bool:
    return type(node) in PLAIN or type(node) is int


_BUILDERS: Final[dict[int, Callable[[_Planning, list[Node]], Build]]] = {
    LIST: _Planning._list,
    TUPLE: _Planning._tuple,
    TENSOR: _Planning._tensor,
    ARRAY: _Planning._array,
    SLICE: _Planning._slice,
    ITEM: _Planning._item,
}
"""By tag, what makes the plan of a node."""
