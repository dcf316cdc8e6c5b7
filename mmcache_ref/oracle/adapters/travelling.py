"""Values that the default serde of a target writes and reads, by itself."""

from __future__ import annotations

import importlib.util
from collections import UserDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, make_dataclass
from typing import Any, Final

import numpy as np

from mmcache_ref.model.object_store_alphabet import Travelled
from mmcache_ref.oracle.adapters.base import Unexpected, need
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interop_values import ARRAY_DTYPES, TENSOR_DTYPES, fingerprint

PLAIN: Final[tuple[Any, ...]] = (
    None,
    [True, False, 0, -1, 2**63 - 1, -(2**63), 0.5, float("inf"), "text", ""],
    (1, (2, [3, ()]), []),
    {"a": {"b": [1]}, 1: "one"},
    [slice(1, None, 2), (slice(None),)],
)
ROWS, COLUMNS = 4, 6


@dataclass
class ForeignElement:
    """An element of another package."""

    data: Any
    field: Any


class ForeignItem(UserDict[str, Any]):
    """An item of another package."""

    def get_data(self) -> Mapping[str, Any]:
        """What an item offers."""
        return {key: element.data for key, element in self.items()}


FOREIGN_FIELDS: Final = {
    "batched": make_dataclass("MultiModalBatchedField", [("keep_on_cpu", bool)], frozen=True),
    "flat": make_dataclass(
        "MultiModalFlatField", [("keep_on_cpu", bool), ("slices", Any), ("dim", int)], frozen=True
    ),
    "shared": make_dataclass(
        "MultiModalSharedField", [("keep_on_cpu", bool), ("batch_size", int)], frozen=True
    ),
}
"""The fields of another package, by their kinds."""


def travelled(namespace: Any, values: Travelled) -> Any:
    """True, if each value comes back as it was written; otherwise what came instead."""
    need(namespace, "MsgpackSerde", "MultiModalKwargsItem", "MultiModalFieldElem")
    if values == "foreign items":
        return _foreign(namespace)
    serde = namespace.MsgpackSerde()
    for value in _values(namespace, values):
        back = read_again(serde, value)
        if _told(back) != _told(value):
            return Unexpected(f"{_shortly(back)} for {_shortly(value)}")
    return True


def read_again(serde: Any, value: Any, reader: Any = None) -> Any:
    """What a serde, or another one, reads of what this one has written, as a store lays it out."""
    data, _, metadata, _ = serde.serialize(value)
    parts = data if isinstance(data, list | tuple) else [data]
    whole = b"".join([bytes(metadata), *map(bytes, parts)])
    return (reader or serde).deserialize(memoryview(bytearray(whole)))


def _values(namespace: Any, values: Travelled) -> Iterator[Any]:
    match values:
        case "plain values":
            yield from PLAIN
        case "arrays":
            for dtype in ARRAY_DTYPES:
                array = (np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 3).astype(dtype)
                yield from (array, array.T, [array[:0], array[0, 0:1].reshape(())])
        case "tensors":
            yield from _tensors()
        case _:
            tensors = list(_tensors())
            elements = {each: namespace.make_element(each, tensors[0], each) for each in FOREIGN_FIELDS}
            yield namespace.MultiModalKwargsItem(elements)
            yield namespace.make_item({f"key {place}": tensor for place, tensor in enumerate(tensors)})
            yield [namespace.make_item({"nested": [tensors[:2], [tensors[2]]]})]


def _tensors() -> Iterator[Any]:
    if importlib.util.find_spec("torch") is None:
        raise NotOffered("PyTorch is not installed")
    import torch

    for dtype in TENSOR_DTYPES:
        tensor = (torch.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 3).to(getattr(torch, dtype))
        yield from (tensor, tensor.T, tensor[:0], tensor[0, 0])


def _told(value: Any) -> Any:
    """What a value is, with the types of its parts, as plain data."""
    if isinstance(value, list | tuple):
        return [type(value).__name__, [_told(each) for each in value]]
    if type(value) is dict:
        return ["dict", [[_told(key), _told(part)] for key, part in value.items()]]
    return ["slice", repr(value)] if isinstance(value, slice) else fingerprint(value)


def _shortly(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.60}"


def _foreign(namespace: Any) -> Any:
    """Do items come back in the classes that the reader names, also those of another package?"""
    serde = namespace.MsgpackSerde()
    own = next(_values(namespace, "items"))
    if not _is_of(read_again(serde, own), namespace.MultiModalKwargsItem, namespace.MultiModalFieldElem):
        return Unexpected("an item of other classes than the target's own")
    classes = getattr(serde, "item_classes", None)
    if classes is None:
        # Its serde names no classes, so no other ones can be asked for.
        return True
    theirs = type(classes)(ForeignItem, ForeignElement, *FOREIGN_FIELDS.values())
    reader = type("ForeignSerde", (namespace.MsgpackSerde,), {"item_classes": theirs})()
    foreign = read_again(serde, own, reader)
    if not _is_of(foreign, ForeignItem, ForeignElement):
        return Unexpected("an item of other classes than those that the reader names")
    back = read_again(serde, foreign)
    if not _is_of(back, namespace.MultiModalKwargsItem, namespace.MultiModalFieldElem):
        return Unexpected("an item of another package's classes, which the reader does not name")
    return _told(back) == _told(own) or Unexpected("another item than the one of another package")


def _is_of(item: Any, item_class: type, element_class: type) -> bool:
    """Is it an item with elements of these classes?"""
    kind: type = type(item)
    return kind is item_class and {type(each) for each in item.values()} == {element_class}
