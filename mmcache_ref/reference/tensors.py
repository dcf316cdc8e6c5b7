"""Payloads: PyTorch tensors and NumPy arrays behind one set of functions.

PyTorch is optional. It is imported only where a new tensor has to be made and PyTorch is installed;
a value can only be a tensor if somebody else has imported it already.
"""

from __future__ import annotations

import copy
import functools
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

Tensor: TypeAlias = Any
"""A `torch.Tensor` or a `numpy.ndarray`."""

NestedTensors: TypeAlias = Any
"""A tensor, a number, `None`, or a list, tuple or dictionary of these, nested to any depth."""

BatchedTensorInputs: TypeAlias = dict[str, NestedTensors]
"""Keyword to batched data: what a model is called with."""

_LOSSLESS_IN_KIND: Final = "same_kind"
"""NumPy's name of the rule that a value may not change its kind: a float never becomes an integer."""


@functools.cache
def torch_if_installed() -> Any:
    """The module `torch`, imported on first use; `None` where it is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None


def is_tensor(value: object) -> bool:
    """Whether `value` is a PyTorch tensor; never imports PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    """Whether `value` is a NumPy array; NumPy's scalars are not."""
    return isinstance(value, np.ndarray)


def is_payload(value: object) -> bool:
    """Whether `value` is a tensor or an array."""
    return isinstance(value, np.ndarray) or is_tensor(value)


def content_attribute(value: object) -> str | None:
    """The attribute that holds what `value` is about; `None` if `value` is not one to enter.   [IT-12, IT-15]

    Elements, items, collections of items, and items kept with their prompt updates are recognised by what
    they offer, so those of any package are: `data` with `field` or `get_data`, or `item` with
    `prompt_updates`.
    """
    if hasattr(value, "data") and (hasattr(value, "field") or hasattr(value, "get_data")):
        return "data"
    if hasattr(value, "item") and hasattr(value, "prompt_updates"):
        return "item"
    return None


def nbytes(value: Tensor) -> int:
    """Number of elements times the bytes of one element.   [IT-13, IT-19, IT-21]

    Memory that a view leaves out, the header of an array, and sparsity do not count.
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    return int(value.numel() * value.element_size())


def zeros_uint8(size: int) -> Tensor:
    """A one-dimensional payload of `size` zero bytes: a tensor where PyTorch is installed, else an array.

    So the same call gives what vLLM gives wherever vLLM can run, whether or not PyTorch was imported before.
    """
    torch = torch_if_installed()
    return np.zeros(size, np.uint8) if torch is None else torch.zeros(size, dtype=torch.uint8)


def nested_tensors_equal(a: NestedTensors, b: NestedTensors, check_dtype: bool = True) -> bool:
    """Whether two nested values have the same structure and equal leaves.   [IT-01]

    Tensors and arrays are equal to their own kind, by shape, value and (unless `check_dtype` is false)
    dtype. A list never equals a tuple. A NaN equals nothing.
    """
    if is_tensor(a) or is_tensor(b):
        if not (is_tensor(a) and is_tensor(b)) or a.shape != b.shape:
            return False
        if a.dtype != b.dtype:
            return not check_dtype and bool((a == b).all())
        return bool(a.equal(b))
    if is_array(a) or is_array(b):
        if not (is_array(a) and is_array(b)) or (check_dtype and a.dtype != b.dtype):
            return False
        return bool(np.array_equal(a, b))
    if any(isinstance(a, kind) and isinstance(b, kind) for kind in (list, tuple)):
        return len(a) == len(b) and all(
            nested_tensors_equal(x, y, check_dtype) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(nested_tensors_equal(a[key], b[key], check_dtype) for key in a)
    return bool(a == b)


def batched_tensors_equal(a: BatchedTensorInputs, b: BatchedTensorInputs) -> bool:
    """Whether two batches have the same keywords and equal data.   [IT-01]"""
    return nested_tensors_equal(a, b)


def stack(parts: Sequence[Tensor], *, pin_memory: bool = False) -> Tensor:
    """Join payloads of one shape along a new first dimension, in the dtype of the first.   [IT-03]

    One part gives a view of it. Raises `TypeError` when a later dtype does not fit the first.
    """
    first = parts[0]
    if len(parts) == 1:
        return first[np.newaxis]
    if is_array(first):
        return np.stack(parts, dtype=first.dtype, casting=_LOSSLESS_IN_KIND)
    joined = _empty_like(first, (len(parts), *first.shape), pin_memory)
    return sys.modules["torch"].stack(list(parts), out=joined)


def concatenate(parts: Sequence[Tensor], dim: int, *, pin_memory: bool = False) -> Tensor:
    """Join payloads along `dim`, in the dtype of the first.   [IT-04]

    A part that is smaller than others in another dimension is padded with zeros at its end. One part is
    returned as it is. Raises `IndexError` when there is no dimension `dim`, `ValueError` when the parts have
    not the same number of dimensions, `TypeError` when a later dtype does not fit the first.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    rank = first.ndim
    if not -rank <= dim < rank:
        raise IndexError(f"a payload with {rank} dimensions has no dimension {dim} to concatenate along")
    if any(part.ndim != rank for part in parts):
        raise ValueError(f"cannot concatenate payloads with {sorted({p.ndim for p in parts})} dimensions")
    dim %= rank
    shape = [max(part.shape[axis] for part in parts) for axis in range(rank)]
    shape[dim] = sum(part.shape[dim] for part in parts)
    whole = [part.shape[:dim] + part.shape[dim + 1 :] for part in parts]
    if all(others == whole[0] for others in whole):
        if is_array(first):
            return np.concatenate(parts, axis=dim, dtype=first.dtype, casting=_LOSSLESS_IN_KIND)
        joined = _empty_like(first, shape, pin_memory)
        return sys.modules["torch"].cat(list(parts), dim=dim, out=joined)
    return _padded(parts, dim, shape, pin_memory)


def _padded(parts: Sequence[Tensor], dim: int, shape: Sequence[int], pin_memory: bool) -> Tensor:
    """The parts one behind the other along `dim` in a payload of zeros of `shape`."""
    first = parts[0]
    if is_array(first):
        fits = all(np.can_cast(part.dtype, first.dtype, _LOSSLESS_IN_KIND) for part in parts)
        joined = np.zeros(shape, first.dtype)
    else:
        fits = all(sys.modules["torch"].can_cast(part.dtype, first.dtype) for part in parts)
        joined = _empty_like(first, shape, pin_memory).zero_()
    if not fits:
        raise TypeError(f"cannot concatenate {[str(part.dtype) for part in parts]} as {first.dtype}")
    start = 0
    for part in parts:
        place = [slice(size) for size in part.shape]
        place[dim] = slice(start, start := start + part.shape[dim])
        joined[tuple(place)] = part
    return joined


def _empty_like(tensor: Tensor, shape: Sequence[int], pin_memory: bool) -> Tensor:
    """An uninitialised tensor of `shape` with the dtype and device of `tensor`."""
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=tensor.dtype, device=tensor.device, pin_memory=pin_memory)


def moved(value: NestedTensors, device: object) -> NestedTensors:
    """The nested value with each tensor on `device`; arrays and numbers stay as they are."""
    if is_tensor(value):
        return value.to(device=device, non_blocking=True)
    if isinstance(value, Mapping):
        return {key: moved(part, device) for key, part in value.items()}
    if isinstance(value, list):
        return [moved(part, device) for part in value]
    if isinstance(value, tuple):
        return tuple(moved(part, device) for part in value)
    return value


def owns_just_its_bytes(value: Tensor) -> bool:
    """Whether a payload keeps no memory alive but its own bytes.   [IT-20]

    False also where that cannot be known: memory that came from outside (a message buffer, a file, an array
    under a tensor), and a tensor that is part of an autograd graph.
    """
    if isinstance(value, np.ndarray):
        base = value.base
        owner = value if base is None else base
        return isinstance(owner, np.ndarray) and owner.flags.owndata and owner.nbytes <= value.nbytes
    if value.layout is not sys.modules["torch"].strided:
        return True
    storage = value.untyped_storage()
    if storage.nbytes() > nbytes(value) or not storage.resizable():
        return False
    return value.grad_fn is None and (not value.is_leaf or value.grad is None)


def detached(value: Any) -> Any:
    """The value, keeping no more memory alive than its size says.   [IT-20]

    Returns the very object when every tensor and array in it owns just its bytes. Otherwise those that do not
    are replaced by compact copies, and only the containers, elements and items around them are made anew,
    with their types. `value` itself is never changed.
    """
    if isinstance(value, np.ndarray):
        return value if owns_just_its_bytes(value) else value.copy()
    if is_tensor(value):
        if owns_just_its_bytes(value):
            return value
        return value.detach().clone()
    if isinstance(value, dict):
        changed = {key: new for key, old in value.items() if (new := detached(old)) is not old}
        if not changed:
            return value
        mapping = copy.copy(value)
        mapping.update(changed)
        return mapping
    if isinstance(value, list | tuple):
        parts = [detached(part) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        if isinstance(value, tuple):
            return tuple.__new__(type(value), parts)
        sequence = copy.copy(value)
        sequence[:] = parts
        return sequence
    attribute = content_attribute(value)
    if attribute is None:
        return value
    content = getattr(value, attribute)
    if (kept := detached(content)) is content:
        return value
    holder = copy.copy(value)
    object.__setattr__(holder, attribute, kept)
    return holder
