"""What travels from a writer to a reader when two implementations are tried on one segment."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

import numpy as np

MIB: Final = 2**20
SIZES: Final = (0, 1, 1_000, 65_536, MIB, 5 * MIB)
ARRAY_DTYPES: Final = ("uint8", "int8", "int64", "float16", "float32", "float64", "bool", "complex64")
TENSOR_DTYPES: Final = ("uint8", "int32", "float16", "bfloat16", "float32", "float64", "bool")

Build = Callable[[Any], Any]
"""Makes a value from the names of a target: its items, elements and fields."""


def catalogue() -> Mapping[str, Build]:
    """Every value by a name; with tensors where PyTorch is installed."""
    values: dict[str, Build] = {f"{size:,} B": _array(size) for size in SIZES}
    values |= {f"array of {dtype}": _array(48, dtype) for dtype in ARRAY_DTYPES}
    values |= {
        "array of two dimensions, transposed": lambda _: _bytes(24).reshape(4, 6).T,
        "array without dimensions": lambda _: np.array(7, np.int16),
        "numbers": lambda _: [0, -1, 2**63 - 1, 0.5, True, None],
        "nested": lambda _: [[_bytes(3), 1], [[2.5, None], _bytes(0)]],
        "item": lambda target: target.make_item({"pixels": _bytes(1_000), "sizes": [1, [2, 3]]}),
        "item of every field": lambda target: target.MultiModalKwargsItem(
            {each: target.make_element(each, _bytes(10), each) for each in ("batched", "flat", "shared")}
        ),
    }
    if importlib.util.find_spec("torch") is not None:
        values |= {f"tensor of {dtype}": _tensor(dtype) for dtype in TENSOR_DTYPES}
        values["item of tensors"] = lambda target: target.make_item({"pixels": _tensor("bfloat16")(target)})
    return values


def _bytes(size: int) -> Any:
    return (np.arange(size) % 251).astype(np.uint8)


def _array(size: int, dtype: str = "uint8") -> Build:
    if dtype == "bool":
        return lambda _: _bytes(size) % 2 == 0
    return lambda _: _bytes(size).view(dtype) if size else _bytes(0)


def _tensor(dtype: str) -> Build:
    def build(_: Any) -> Any:
        import torch

        return (torch.arange(24).reshape(4, 6) % 2).to(getattr(torch, dtype))

    return build


def fingerprint(value: Any) -> Any:
    """What a value is, as plain data: kind, type and shape, and a digest of the bytes.

    Lists and tuples are the same: an implementation may make one of the other.
    """
    if value is None or type(value) in (bool, int, float, str):
        return [type(value).__name__, repr(value)]
    if isinstance(value, list | tuple):
        return ["sequence", [fingerprint(each) for each in value]]
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), sha256(value.tobytes()).hexdigest()]
    if type(value).__module__.partition(".")[0] == "torch":
        import torch

        raw = value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return ["tensor", str(value.dtype), list(value.shape), sha256(raw).hexdigest()]
    if isinstance(value, Mapping):
        return [
            "item",
            [[key, type(each.field).__name__, fingerprint(each.data)] for key, each in value.items()],
        ]
    return ["other", type(value).__name__]
