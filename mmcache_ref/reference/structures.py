"""Values as a structure of plain nodes, and the raw bytes of their leaves.

A node is what msgpack can say: nothing, a boolean, a number, a string, or a list that begins with a tag.
The bytes of tensors, arrays and byte strings stand apart, one behind the other, in the order in which the
structure names them; `spec/07-object-store.md` has the table.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from .tensors import Tensor

Node: TypeAlias = Any
"""`None`, a bool, an int of 64 bits, a float, a string, or a list that begins with a tag."""

Buffer: TypeAlias = bytes | memoryview

(
    LIST,
    TUPLE,
    DICT,
    TENSOR,
    ARRAY,
    SCALAR,
    BYTES,
    INTEGER,
    SLICE,
    BATCHED,
    FLAT,
    SHARED,
    ELEMENT,
    ITEM,
) = range(14)

SMALLEST_INTEGER: Final = -(2**63)
LARGEST_INTEGER: Final = 2**64 - 1

PLAIN: Final = frozenset({type(None), bool, float, str})

FIELD_ATTRIBUTES: Final = {
    "MultiModalBatchedField": {"keep_on_cpu"},
    "MultiModalFlatField": {"keep_on_cpu", "slices", "dim"},
    "MultiModalSharedField": {"keep_on_cpu", "batch_size"},
}
"""What a field of each kind says; one that says more cannot be written."""


class SerdeError(ValueError):
    """A value that the serde cannot write, or bytes that it cannot read."""


def written(value: Any, leaves: list[Buffer]) -> Node:
    """The node of `value`; the bytes of its leaves are appended to `leaves`.   [OS-38, OS-39]

    Contiguous tensors and arrays are not copied: their bytes are views. Raises `SerdeError` for what cannot
    be written.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is int:
        return value if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else [INTEGER, str(value)]
    if kind is list:
        return [LIST, *[written(part, leaves) for part in value]]
    if kind is tuple:
        return [TUPLE, *[written(part, leaves) for part in value]]
    if kind is dict:
        return [DICT, *[written(part, leaves) for pair in value.items() for part in pair]]
    if kind is np.ndarray:
        return [ARRAY, array_dtype_name(value.dtype), *value.shape, *_appended(_array_bytes(value), leaves)]
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.Tensor:
        return [TENSOR, _tensor_dtype_name(value), *value.shape, *_appended(_tensor_bytes(value), leaves)]
    if kind is bytes:
        return [BYTES, len(value), *_appended(value, leaves)]
    if isinstance(value, np.generic):
        return [SCALAR, array_dtype_name(value.dtype), *_appended(value.tobytes(), leaves)]
    if kind is slice:
        return [SLICE, *[written(part, leaves) for part in (value.start, value.stop, value.step)]]
    if hasattr(value, "field") and hasattr(value, "data"):
        return [ELEMENT, _field_node(value.field, leaves), written(value.data, leaves)]
    if hasattr(value, "get_data") and isinstance(getattr(value, "data", None), Mapping):
        return _item_node(value.data, leaves)
    raise SerdeError(f"cannot write a {kind.__module__}.{kind.__qualname__}; see the table of chapter 7")


def _appended(leaf: Buffer, leaves: list[Buffer]) -> tuple[()]:
    """Append the bytes of a leaf; a leaf adds nothing more to its node."""
    leaves.append(leaf)
    return ()


def _item_node(elements: Mapping[str, Any], leaves: list[Buffer]) -> Node:
    """The node of an item; the key of each element comes before it.   [OS-39]"""
    node: list[Node] = [ITEM]
    for key, element in elements.items():
        if type(key) is not str or not hasattr(element, "field"):
            raise SerdeError(f"cannot write an item in which {key!r} is a {type(element).__qualname__}")
        node += (key, _field_node(element.field, leaves), written(element.data, leaves))
    return node


def _field_node(field: Any, leaves: list[Buffer]) -> Node:
    """The node of the field of an element.   [OS-39]"""
    name = type(field).__name__
    attributes = getattr(field, "__dict__", {})
    if name not in FIELD_ATTRIBUTES or not attributes.keys() <= FIELD_ATTRIBUTES[name]:
        raise SerdeError(f"cannot write an element with the field {field!r}")
    keep_on_cpu = bool(attributes.get("keep_on_cpu", False))
    if name == "MultiModalBatchedField":
        return [BATCHED, keep_on_cpu]
    if name == "MultiModalFlatField":
        return [FLAT, keep_on_cpu, written(field.slices, leaves), written(field.dim, leaves)]
    return [SHARED, keep_on_cpu, written(field.batch_size, leaves)]


@lru_cache(maxsize=256)
def array_dtype_name(dtype: np.dtype[Any]) -> str:
    """The dtype in NumPy's short form, `<f4`, from which it can be made again; `SerdeError` if it cannot."""
    if dtype.hasobject or dtype.names is not None or np.dtype(dtype.str) != dtype:
        raise SerdeError(f"cannot write an array of {dtype}")
    return dtype.str


def _array_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """The elements of an array in row-major order: its own memory if it is laid out so, else a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


def _tensor_dtype_name(tensor: Tensor) -> str:
    """The dtype of a tensor without its package; `SerdeError` where there are no bytes of its elements."""
    torch = sys.modules["torch"]
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise SerdeError(f"cannot write a tensor of {tensor.dtype} on {tensor.device}, {tensor.layout}")
    return str(tensor.dtype).removeprefix("torch.")


def _tensor_bytes(tensor: Tensor) -> memoryview:
    """The elements of a tensor in row-major order: its own memory if it is laid out so, else a copy."""
    if not (count := tensor.numel()):
        return memoryview(b"")
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    view: memoryview = plain.as_strided((count,), (1,)).view(sys.modules["torch"].uint8).numpy().data
    return view
