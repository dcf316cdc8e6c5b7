"""Values as a structure of plain nodes, and the raw bytes of their leaves.

A node is what msgpack can say: nothing, a boolean, a number, a string, or a list that begins with a tag.
The bytes of tensors, arrays and byte strings stand apart, one behind the other, in the order in which the
structure names them; `spec/07-object-store.md` has the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from .tensors import Tensor

Node: TypeAlias = Any
"""`None`, a bool, an int of 64 bits, a float, a string, or a list that begins with a tag."""

Buffer: TypeAlias = bytes | memoryview

Writer: TypeAlias = Callable[[Any, list[Buffer]], Node]

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
"""The types of values that are their own node; so is `int`, as far as its 64 bits go."""

TENSOR_DTYPES: Final = frozenset(
    {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"}
    | {"float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float4_e2m1fn_x2"}
    | {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"}
)
"""The names of the dtypes of tensors that are written and read; PyTorch is asked for no other."""

FIELD_ATTRIBUTES: Final = {
    "MultiModalBatchedField": ("keep_on_cpu",),
    "MultiModalFlatField": ("keep_on_cpu", "slices", "dim"),
    "MultiModalSharedField": ("keep_on_cpu", "batch_size"),
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
    try:
        writer = _WRITERS[kind]
    except KeyError:
        writer = _WRITERS[kind] = _writer_for(value)
    return writer(value, leaves)


def _writer_for(value: Any) -> Writer:
    """What writes values of a type that was not met before; `SerdeError` if they cannot be written."""
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Tensor:
        return _tensor
    if isinstance(value, np.generic):
        return _scalar
    if hasattr(value, "field") and hasattr(value, "data"):
        return _element
    if hasattr(value, "get_data") and isinstance(getattr(value, "data", None), Mapping):
        return _item
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    raise SerdeError(f"cannot write a {name}: chapter 7 has the table of what can be written")


def _itself(value: Any, leaves: list[Buffer]) -> Node:
    return value


def _integer(value: int, leaves: list[Buffer]) -> Node:
    return value if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else [INTEGER, str(value)]


def _list(value: list[Any], leaves: list[Buffer]) -> Node:
    return [LIST, *[written(part, leaves) for part in value]]


def _tuple(value: tuple[Any, ...], leaves: list[Buffer]) -> Node:
    return [TUPLE, *[written(part, leaves) for part in value]]


def _dict(value: dict[Any, Any], leaves: list[Buffer]) -> Node:
    return [DICT, *[written(part, leaves) for pair in value.items() for part in pair]]


def _slice(value: slice, leaves: list[Buffer]) -> Node:
    return [SLICE, *[written(part, leaves) for part in (value.start, value.stop, value.step)]]


def _bytes(value: bytes, leaves: list[Buffer]) -> Node:
    leaves.append(value)
    return [BYTES, len(value)]


def _memory(array: Any) -> memoryview:
    """The elements in row-major order as bytes: the array's own memory if it is laid out so, else a copy."""
    try:
        return memoryview(array).cast("B")
    except (TypeError, ValueError):  # not in one piece, nothing in it, or of a dtype that buffers lack
        return array.ravel().view(np.uint8).data if array.nbytes else memoryview(b"")


def _array(value: np.ndarray[Any, Any], leaves: list[Buffer]) -> Node:
    """An array: its own memory if it is laid out in row-major order, else a copy."""
    leaves.append(_memory(value))
    return [ARRAY, array_dtype_name(value.dtype), *value.shape]


def _scalar(value: np.generic, leaves: list[Buffer]) -> Node:
    leaves.append(value.tobytes())
    return [SCALAR, array_dtype_name(value.dtype)]


def _tensor(value: Tensor, leaves: list[Buffer]) -> Node:
    """A tensor: its own memory if it is laid out in row-major order, else a copy."""
    name, stand_in = tensor_dtype_name(value.dtype)
    try:
        array = (value if stand_in is None else value.view(stand_in)).numpy()
    except (RuntimeError, TypeError):
        plain = _plain(value)
        array = (plain if stand_in is None else plain.view(stand_in)).numpy()
    leaves.append(_memory(array))
    return [TENSOR, name, *array.shape]


def _plain(tensor: Tensor) -> Tensor:
    """The tensor without gradient, in the memory of the CPU, with nothing left to compute."""
    torch = sys.modules["torch"]
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        raise SerdeError(f"cannot write a tensor of {tensor.dtype} on {tensor.device}, {tensor.layout}")
    return tensor.detach().cpu().resolve_conj().resolve_neg()


@lru_cache(maxsize=256)
def tensor_dtype_name(dtype: Any) -> tuple[str, Any]:
    """The name of a dtype, and for one that NumPy lacks another of the same width.   [OS-24, OS-38]

    Raises `SerdeError` for one that is not written.
    """
    torch = sys.modules["torch"]
    name = str(dtype).removeprefix("torch.")
    if name not in TENSOR_DTYPES:
        raise SerdeError(f"cannot write a tensor of {dtype}")
    try:
        torch.empty(0, dtype=dtype).numpy()
    except TypeError:
        return name, {1: torch.uint8, 2: torch.int16}[dtype.itemsize]
    return name, None


@lru_cache(maxsize=256)
def array_dtype_name(dtype: np.dtype[Any]) -> str:
    """The dtype in NumPy's short form, `<f4`, from which it can be made again; `SerdeError` if it cannot.

    Elements of no bytes cannot: NumPy gives each a byte where it copies them, also where there are millions.
    [OS-24]
    """
    if dtype.itemsize == 0 or dtype.hasobject or dtype.names is not None or np.dtype(dtype.str) != dtype:
        raise SerdeError(f"cannot write an array of {dtype}")
    return dtype.str


def _element(value: Any, leaves: list[Buffer]) -> Node:
    return [ELEMENT, _field_node(value.field, leaves), written(value.data, leaves)]


def _item(value: Any, leaves: list[Buffer]) -> Node:
    """An item; the key of each element comes before it."""
    node: list[Node] = [ITEM]
    for key, element in value.data.items():
        field = getattr(element, "field", None)
        if type(key) is not str or field is None:
            raise SerdeError(f"cannot write an item in which {key!r} is a {type(element).__qualname__}")
        node += (key, _field_node(field, leaves), written(element.data, leaves))
    return node


def _field_node(field: Any, leaves: list[Buffer]) -> Node:
    """The node of the field of an element."""
    kind: Any = type(field)
    tag, attributes = _field_form(kind)
    node: list[Node] = [tag, bool(getattr(field, "keep_on_cpu", False))]
    for attribute in attributes:
        node.append(written(getattr(field, attribute), leaves))
    return node


@lru_cache(maxsize=256)
def _field_form(kind: Any) -> tuple[int, tuple[str, ...]]:
    """The tag of a kind of field, and what it says beside `keep_on_cpu`; `SerdeError` for an unknown kind."""
    name = kind.__name__
    known = FIELD_ATTRIBUTES.get(name, ())
    if not is_dataclass(kind) or not {attribute.name for attribute in fields(kind)} <= set(known):
        raise SerdeError(f"cannot write an element whose field is a {kind.__module__}.{name}")
    return BATCHED + list(FIELD_ATTRIBUTES).index(name), known[1:]


_WRITERS: Final[dict[type, Writer]] = {
    type(None): _itself,
    bool: _itself,
    float: _itself,
    str: _itself,
    int: _integer,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    slice: _slice,
    bytes: _bytes,
    np.ndarray: _array,
}
"""What writes a value, by its very type; those of other packages are added when they are met."""
