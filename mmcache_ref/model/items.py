"""What a value weighs, computed from its description, and what is made of values.   [spec/01-items.md]

The component has no state: an operation asks for a size, a number of leaves, or about the data model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec

from . import data_model
from .component import Aspect, Op, Outcome, Rule, rule, several
from .data_model import (
    Batch,
    Block,
    Collection,
    Dummy,
    Embeds,
    Equal,
    FieldTraits,
    GetData,
    Info,
    Question,
)
from .values import (
    WIDTHS,
    Array,
    Description,
    DType,
    Item,
    Items,
    Leaf,
    Mapped,
    Opaque,
    Plain,
    Sequence,
    Shape,
    Tensor,
    complexity,
    leaf_size,
    leaves,
    size,
)

__all__ = [
    "ASPECTS",
    "KINDS",
    "LEAF_KINDS",
    "NAME",
    "PRESETS",
    "RULES",
    "WIDTHS",
    "Array",
    "Batch",
    "Block",
    "CacheIfFits",
    "CachedSize",
    "Collection",
    "Complexity",
    "Config",
    "DType",
    "Description",
    "Dummy",
    "Embeds",
    "Equal",
    "FieldTraits",
    "GetData",
    "Info",
    "Item",
    "Items",
    "Kept",
    "Leaf",
    "LeafSize",
    "MakeLru",
    "Mapped",
    "Opaque",
    "Operation",
    "Plain",
    "Question",
    "Sequence",
    "Size",
    "State",
    "Tensor",
    "Twins",
    "bare",
    "initial",
    "is_nested",
    "leaf_size",
    "leaves",
    "observe",
    "operations",
    "step",
    "view",
]

NAME = "items"


class Size(Op, frozen=True, tag="size"):
    """`MultiModalCache.get_item_size(value)`"""

    value: Description


class LeafSize(Op, frozen=True, tag="leaf_size"):
    """`MultiModalCache.get_leaf_size(leaf)`"""

    leaf: Leaf


class Complexity(Op, frozen=True, tag="complexity"):
    """`MultiModalCache.get_item_complexity(value)`"""

    value: Description


class CachedSize(Op, frozen=True, tag="cached_size"):
    """The size of an item in a `MultiModalProcessorCacheItem`, or of the metadata made of it.

    With `later` the item gets another element, of this value, after it was wrapped.
    """

    item: Item
    is_metadata: bool = False
    later: Description | None = None


class Twins(Op, frozen=True, tag="twins"):
    """The sizes of a tensor and of an array of this shape and dtype"""

    shape: Shape
    dtype: DType = "uint8"
    is_view: bool = False


class MakeLru(Op, frozen=True, tag="make_lru"):
    """Entries, budget and bytes in use of what `get_lru_cache` makes, given the budget as a part of 2**30"""

    budget: int


class Kept(Op, frozen=True, tag="kept"):
    """How many bytes of memory a cached payload keeps alive, asked of what a later hit returns; of a sender,
    whether the item is still there when nobody else has it. Of a list the payloads in it
    count; its item has another element besides."""

    payload: Tensor | Array | Sequence
    cache: Literal["processor-only", "receiver", "sender"]


class CacheIfFits(Op, frozen=True, tag="cache_if_fits"):
    """`cache_if_fits(cache, key, value)` of a cache with this budget and an item of this size, in bytes."""

    nbytes: int
    budget: int


Operation = Size | LeafSize | Complexity | CachedSize | Twins | MakeLru | Kept | CacheIfFits | Question


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values that an exhaustive run asks about."""

    values: tuple[Description, ...] = ()


class State(NamedTuple):
    """Nothing: sizes depend on the value alone."""


KINDS = {
    "no_leaves": "IT-18",
    "array": "IT-19",
    "nested": "IT-12",
    "tensor": "IT-13",
    "plain": "IT-14",
}
LEAF_KINDS: Mapping[type, str] = {
    type(None): "no_leaves",
    Array: "array",
    Tensor: "tensor",
    Plain: "plain",
    Opaque: "plain",
}
"""What a leaf is, and `None` for a container that has none, among `KINDS`."""
RULES: Mapping[tuple[str, str], Rule] = {
    **{("size", kind): rule(clause) for kind, clause in KINDS.items()},
    **{("leaf_size", kind): rule(KINDS[kind]) for kind in ("array", "tensor", "plain")},
    ("cached_size", "nested"): rule("IT-15"),
    ("cached_size", "grown"): rule("IT-15"),
    ("twins", "weighed"): rule("IT-21"),
    ("twins", "tensor"): rule("IT-13"),
    ("twins", "array"): rule("IT-19"),
    ("make_lru", "made"): rule("IT-17"),
    **data_model.RULES,
    ("cached_size", "no_leaves"): rule("IT-18"),
    ("cached_size", "array"): rule("IT-19"),
    ("complexity", "counted"): rule("IT-16"),
    ("cache_if_fits", "stored"): rule("IF-03"),
    ("cache_if_fits", "too_large"): rule("IF-03"),
    ("kept", "whole"): rule("IT-20"),
    ("kept", "view"): rule("IT-20"),
    ("kept", "sender"): rule("KR-01"),
}
ASPECTS: Mapping[str, Aspect] = {}

_BYTES = Tensor((3,))
_EMPTY = Sequence()
PRESETS = {
    "tiny": Config(
        (
            _BYTES,
            Tensor((2, 3), "float32"),
            Tensor((), "bfloat16"),
            Tensor((0,)),
            Tensor((2,), "int64", is_view=True),
            Array((2, 3), "float32"),
            Array((5,), is_view=True),
            Array(()),
            Plain(7),
            Plain(2.5),
            Plain("token"),
            Plain(None),
            Opaque(3),
            _EMPTY,
            Sequence(is_tuple=True),
            Mapped(),
            Item(),
            Items(),
            Sequence((_BYTES, _EMPTY)),
            Sequence((_BYTES, Plain(7)), is_tuple=True),
            Sequence((Sequence((_BYTES, Tensor((1,)))), Plain(None))),
            Mapped((("a", _BYTES), ("b", Sequence((Plain(1), Plain(1)))))),
            Item((("a", Tensor((100,))),)),
            Item((("a", Tensor((100,))), ("b", Tensor((110,))))),
            Item((("a", Tensor((2, 2), "float16")), ("b", Plain(3)))),
            Item((("a", _EMPTY),)),
            Item((("a", Array((4,))),)),
            Items(
                (
                    ("image", (Item((("a", Tensor((100,))), ("b", Tensor((110,))))),)),
                    ("video", (Item((("a", Tensor((120,))), ("b", Tensor((130,))))),)),
                )
            ),
            Items((("image", ()),)),
        )
    ),
}
PRESETS["small"] = PRESETS["tiny"]


def kinds(value: Description) -> set[str]:
    """Which clauses about sizes the value meets."""
    met = {LEAF_KINDS[type(leaf)] for leaf in leaves(value)}
    return met | {"nested"} if is_nested(value) else met


def is_nested(value: Description) -> bool:
    """Is it no leaf?"""
    return not isinstance(value, Leaf)


def initial(config: Config) -> State:
    """The only state."""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Both questions about every value of the configuration, and what fits a budget."""
    for nbytes in (0, 4, 5, 6):
        yield CacheIfFits(nbytes, budget=5)
    for value in config.values:
        yield Size(value)
        yield Complexity(value)
        if isinstance(value, Leaf):
            yield LeafSize(value)
        if isinstance(value, Item):
            yield CachedSize(value)
            yield CachedSize(value, is_metadata=True)
            yield CachedSize(value, later=_BYTES)
            yield CachedSize(value, is_metadata=True, later=_BYTES)
        if isinstance(value, Tensor | Array):
            yield Kept(value, "processor-only")
            yield Kept(value, "receiver")
            yield Kept(value, "sender")
            yield Kept(Sequence((value, Sequence((value,), is_tuple=True))), "processor-only")
    for is_view in (False, True):
        yield Twins((2, 3), "float32", is_view)
    for budget in (0, 5, 2**30, 3 * 2**29):
        yield MakeLru(budget)
    yield from data_model.questions()


def bare(config: Config) -> Config:
    """Nothing: an operation says it all."""
    return Config()


def view(state: State) -> tuple[object, ...]:
    """The only state."""
    return state


def observe(config: Config, state: State) -> dict[str, object]:
    """Nothing to observe."""
    return {}


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One question.   [IF-03, IT-15, IT-20]"""
    match operation:
        case Size(value):
            return state, several(KINDS, kinds(value), size(value))
        case LeafSize(leaf):
            return state, several(KINDS, kinds(leaf), leaf_size(leaf))
        case CachedSize(item, is_metadata, later):
            if later is None:
                return state, several(KINDS, kinds(item), size(item))
            known = kinds(item) | kinds(Item((("later", later),)))
            whole = size(item) if is_metadata else size(item) + size(later)
            return state, several(("grown", *KINDS), {"grown"} | known & {"no_leaves", "array"}, whole)
        case Twins(shape, dtype):
            weight = leaf_size(Tensor(shape, dtype))
            return state, Outcome("weighed", (weight, weight), also=("tensor", "array"))
        case MakeLru(budget):
            return state, Outcome("made", (0, budget, 0))
        case Kept(payload, cache):
            if cache == "sender":
                if isinstance(payload, Sequence):
                    raise TypeError("whether a list is still there cannot be seen")
                return state, Outcome("sender", 0)
            parts = [each for each in leaves(payload) if isinstance(each, Tensor | Array)]
            kind = "view" if any(each.is_view for each in parts) else "whole"
            return state, Outcome(kind, sum(map(leaf_size, parts)))
        case CacheIfFits(nbytes, budget):
            fits = nbytes <= budget
            return state, Outcome("stored" if fits else "too_large", (fits, nbytes if fits else 0))
        case Complexity(value):
            return state, Outcome("counted", complexity(value))
        case question:
            return state, data_model.answer(question)
