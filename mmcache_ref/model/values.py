"""Descriptions of the values that travel through the caches, and what they weigh.   [spec/01-items.md]"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

WIDTHS = {"uint8": 1, "bool": 1, "float16": 2, "bfloat16": 2, "float32": 4, "int64": 8}
"""Bytes of one element by dtype."""


DType = Literal["uint8", "bool", "float16", "bfloat16", "float32", "int64"]
Shape = Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=256)], ...], msgspec.Meta(max_length=3)]
Fill = Annotated[int, msgspec.Meta(ge=0, le=1)]


class Value(msgspec.Struct, frozen=True, tag_field="value"):
    """Base of the descriptions of values."""


class Tensor(Value, frozen=True, tag="tensor"):
    """A tensor of this shape, each element `fill`; `is_view`: a part of a storage that is larger."""

    shape: Shape
    dtype: DType = "uint8"
    is_view: bool = False
    fill: Fill = 0


class Array(Value, frozen=True, tag="array"):
    """A NumPy array of this shape, each element `fill`; `is_view`: a part of memory that it does not own."""

    shape: Shape
    dtype: DType = "uint8"
    is_view: bool = False
    fill: Fill = 0


class Plain(Value, frozen=True, tag="plain"):
    """A number, a text, or None."""

    plain: int | float | str | None


class Opaque(Value, frozen=True, tag="opaque"):
    """An object of a class that no clause knows: `range(length)`."""

    length: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0


class Sequence(Value, frozen=True, tag="sequence"):
    """A list, or a tuple."""

    members: tuple[Description, ...] = ()
    is_tuple: bool = False


class Mapped(Value, frozen=True, tag="mapped"):
    """A dict."""

    members: tuple[tuple[str, Description], ...] = ()


class Item(Value, frozen=True, tag="item"):
    """A `MultiModalKwargsItem` with an element for each key."""

    members: tuple[tuple[str, Description], ...] = ()


class Items(Value, frozen=True, tag="items"):
    """A `MultiModalKwargsItems`: the items of each modality."""

    members: tuple[tuple[str, tuple[Item, ...]], ...] = ()


Leaf = Tensor | Array | Plain | Opaque
Description = Leaf | Sequence | Mapped | Item | Items


def leaves(value: Description) -> Iterator[Leaf | None]:
    """The leaves in order; None for a container that has none.   [IT-12]"""
    members: tuple[Any, ...]
    match value:
        case Tensor() | Array() | Plain() | Opaque():
            yield value
            return
        case Sequence(members):
            inner = members
        case Items(members):
            inner = tuple(Sequence(items) for _, items in members)
        case Mapped(members) | Item(members):
            inner = tuple(member for _, member in members)
    if not inner:
        yield None
    for member in inner:
        yield from leaves(member)


def elements(shape: Shape) -> int:
    """The number of elements of a payload."""
    count = 1
    for length in shape:
        count *= length
    return count


def leaf_size(leaf: Leaf | None) -> int:
    """Bytes of one leaf.   [IT-13, IT-14, IT-18, IT-19, IT-21]"""
    match leaf:
        case None:
            return 0
        case Plain(plain):
            return sys.getsizeof(plain)
        case Opaque(length):
            return sys.getsizeof(range(length))
        case Tensor(shape, dtype) | Array(shape, dtype):
            return elements(shape) * WIDTHS[dtype]


def size(value: Description) -> int:
    """Bytes of a value.   [IT-12]"""
    return sum(map(leaf_size, leaves(value)))


def complexity(value: Description) -> int:
    """The number of values inside dicts, lists and tuples.   [IT-16]"""
    match value:
        case Sequence(members):
            return sum(map(complexity, members))
        case Mapped(pairs):
            return sum(complexity(member) for _, member in pairs)
    return 1


def equal(one: Description, other: Description) -> bool:
    """Are the data equal: by value, shape and dtype, and element by element?   [IT-01]"""
    if type(one) is not type(other):
        return False
    if isinstance(one, Tensor | Array) and isinstance(other, Tensor | Array):
        same_type = one.shape == other.shape and one.dtype == other.dtype
        return same_type and (one.fill == other.fill or not elements(one.shape))
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return (
            one.is_tuple == other.is_tuple
            and len(one.members) == len(other.members)
            and all(equal(*both) for both in zip(one.members, other.members, strict=True))
        )
    return one == other
