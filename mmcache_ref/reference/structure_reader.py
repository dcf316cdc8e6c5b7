"""Values built again from their structure and the raw bytes of their leaves."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from .copying import copied
from .fields import (
    MultiModalBatchedField,
    MultiModalFieldElem,
    MultiModalFlatField,
    MultiModalSharedField,
)
from .items import MultiModalKwargsItem
from .structures import (
    BATCHED,
    FLAT,
    ITEM,
    LIST,
    PLAIN,
    SHARED,
    TENSOR_DTYPES,
    Node,
    SerdeError,
    array_dtype_name,
    tensor_dtype_name,
)
from .tensors import Tensor, torch_if_installed


class ItemClasses(NamedTuple):
    """The classes of which a serde makes items."""

    item: Callable[..., Any] = MultiModalKwargsItem
    element: Callable[..., Any] = MultiModalFieldElem
    batched: Callable[..., Any] = MultiModalBatchedField
    flat: Callable[..., Any] = MultiModalFlatField
    shared: Callable[..., Any] = MultiModalSharedField


class Reader:
    """Builds values from nodes and from the bytes of their leaves, which it takes in order.   [OS-24, OS-38]

    Everything it makes has memory of its own. Raises `SerdeError` for whatever `written` does not write;
    before it makes a leaf it has seen that the leaf's bytes are there.
    """

    def __init__(self, leaves: memoryview, classes: ItemClasses) -> None:
        self._leaves = leaves
        self._position = 0
        self._classes = classes

    def value(self, node: Node) -> Any:
        """The value that `node` and the next leaves say."""
        kind = type(node)
        if kind in PLAIN or kind is int:
            return node
        if kind is not list or not node or type(node[0]) is not int or not LIST <= node[0] <= ITEM:
            raise SerdeError(f"not a node: {node!r:.80}")
        return _BUILDERS[node[0]](self, node)

    def end(self) -> None:
        """Raise `SerdeError` when leaves are left over."""
        if self._position != len(self._leaves):
            raise SerdeError(f"{len(self._leaves) - self._position} bytes belong to no leaf")

    def _next(self, nbytes: int) -> int:
        """Where the next leaf of `nbytes` begins; `SerdeError` if its bytes are not all there."""
        begin = self._position
        if not 0 <= nbytes <= len(self._leaves) - begin:
            raise SerdeError(f"a leaf of {nbytes} bytes, and {len(self._leaves) - begin} are there")
        self._position = begin + nbytes
        return begin

    def _values(self, nodes: list[Node]) -> list[Any]:
        return [self.value(node) for node in nodes]

    def _list(self, node: list[Node]) -> list[Any]:
        return self._values(node[1:])

    def _tuple(self, node: list[Node]) -> tuple[Any, ...]:
        return tuple(self._values(node[1:]))

    def _dict(self, node: list[Node]) -> dict[Any, Any]:
        parts = self._values(node[1:])
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def _tensor(self, node: list[Node]) -> Tensor:
        """A tensor with memory of its own: one copy of its bytes."""
        _, name, *shape = node
        form = tensor_form(name)
        begin = self._next(number_of_elements(shape) * form.array_dtype.itemsize)
        return form.tensor(copied(np.ndarray(shape, form.array_dtype, self._leaves, begin)))

    def _array(self, node: list[Node]) -> np.ndarray[Any, Any]:
        """An array that owns its memory: one copy of its bytes."""
        _, name, *shape = node
        dtype = array_dtype(name)
        begin = self._next(number_of_elements(shape) * dtype.itemsize)
        return copied(np.ndarray(shape, dtype, self._leaves, begin))

    def _scalar(self, node: list[Node]) -> Any:
        _, name = node
        dtype = array_dtype(name)
        return np.ndarray((1,), dtype, self._leaves, self._next(dtype.itemsize))[0]

    def _bytes(self, node: list[Node]) -> bytes:
        _, length = node
        begin = self._next(number_of_elements([length]))
        return bytes(self._leaves[begin : begin + length])

    def _integer(self, node: list[Node]) -> int:
        _, text = node
        return int(text) if type(text) is str else refused(node)

    def _slice(self, node: list[Node]) -> slice:
        _, start, stop, step = self._values(node)
        return slice(start, stop, step)

    def _batched(self, node: list[Node]) -> Any:
        _, keep_on_cpu = node
        return self._classes.batched(keep_on_cpu=bool(keep_on_cpu))

    def _flat(self, node: list[Node]) -> Any:
        _, keep_on_cpu, slices, dim = node
        return self._classes.flat(
            slices=self.value(slices), dim=self.value(dim), keep_on_cpu=bool(keep_on_cpu)
        )

    def _shared(self, node: list[Node]) -> Any:
        _, keep_on_cpu, batch_size = node
        return self._classes.shared(batch_size=self.value(batch_size), keep_on_cpu=bool(keep_on_cpu))

    def _field(self, node: Node) -> Any:
        is_field = type(node) is list and node and node[0] in (BATCHED, FLAT, SHARED)
        return self.value(node) if is_field else refused(node)

    def _element(self, node: list[Node]) -> Any:
        _, field, data = node
        field = self._field(field)
        return self._classes.element(data=self.value(data), field=field)

    def _item(self, node: list[Node]) -> Any:
        """An item; the leaves of an element's field come before those of its data."""
        elements = {}
        for key, field, data in zip(node[1::3], node[2::3], node[3::3], strict=True):
            if type(key) is not str:
                refused(node)
            field = self._field(field)
            elements[key] = self._classes.element(data=self.value(data), field=field)
        return self._classes.item(elements)


_BUILDERS: Final[tuple[Callable[[Reader, list[Node]], Any], ...]] = (
    Reader._list,
    Reader._tuple,
    Reader._dict,
    Reader._tensor,
    Reader._array,
    Reader._scalar,
    Reader._bytes,
    Reader._integer,
    Reader._slice,
    Reader._batched,
    Reader._flat,
    Reader._shared,
    Reader._element,
    Reader._item,
)
"""By tag, what builds the value of a node."""


def refused(node: Node) -> Any:
    raise SerdeError(f"not a node: {node!r:.80}")


def number_of_elements(shape: list[Any]) -> int:
    """The product of the dimensions; `SerdeError` unless each is a whole number from 0 on."""
    for dimension in shape:
        if type(dimension) is not int or dimension < 0:
            raise SerdeError(f"not a shape: {shape!r:.80}")
    return math.prod(shape)


@lru_cache(maxsize=256)
def array_dtype(name: str) -> np.dtype[Any]:
    """The dtype of that short form; `SerdeError` if it is not one that can be written."""
    dtype: np.dtype[Any] = np.dtype(name)
    if array_dtype_name(dtype) != name:
        raise SerdeError(f"not the dtype of an array: {name!r:.80}")
    return dtype


class TensorForm(NamedTuple):
    """How a tensor of some dtype is made: from an array of the same width, or of the very dtype."""

    array_dtype: np.dtype[Any]
    from_numpy: Callable[[np.ndarray[Any, Any]], Tensor]
    dtype: Any
    """That of the tensor where NumPy lacks it, else `None`."""

    def tensor(self, array: np.ndarray[Any, Any]) -> Tensor:
        """The tensor with the elements and the memory of `array`."""
        tensor = self.from_numpy(array)
        return tensor if self.dtype is None else tensor.view(self.dtype)


@lru_cache(maxsize=256)
def tensor_form(name: str) -> TensorForm:
    """How a tensor of the dtype of that name is made; `SerdeError` if there is none.   [OS-24]

    The name comes from the segment: `getattr` of PyTorch would import what it names.
    """
    torch = torch_if_installed()
    if torch is None:
        raise SerdeError("the object holds a tensor, and PyTorch is not installed here")
    dtype = vars(torch).get(name) if name in TENSOR_DTYPES else None
    if dtype is None:
        raise SerdeError(f"not the dtype of a tensor: {name!r:.80}")
    name, stand_in = tensor_dtype_name(dtype)
    as_array = torch.empty(0, dtype=stand_in or dtype).numpy().dtype
    return TensorForm(as_array, torch.from_numpy, stand_in and dtype)
