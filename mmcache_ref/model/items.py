"""What a value weighs, computed from its description.   [spec/01-items.md]

The component has no state: an operation asks for a size or a number of leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from .component import Aspect, Op, Outcome, Rule, rule, several

NAME = "items"
WIDTHS = {"uint8": 1, "bool": 1, "float16": 2, "bfloat16": 2, "float32": 4, "int64": 8}
"""Bytes of one element by dtype."""


DType = Literal["uint8", "bool", "float16", "bfloat16", "float32", "int64"]
Shape = Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=256)], ...], msgspec.Meta(max_length=3)]


class Value(msgspec.Struct, frozen=True, tag_field="value"):
    """Base of the descriptions of values."""


class Tensor(Value, frozen=True, tag="tensor"):
    """A tensor of this shape; `is_view`: a part of a storage that is larger."""

    shape: Shape
    dtype: DType = "uint8"
    is_view: bool = False


class Array(Value, frozen=True, tag="array"):
    """A NumPy array of this shape; `is_view`: a part of memory that it does not own."""

    shape: Shape
    dtype: DType = "uint8"
    is_view: bool = False


class Plain(Value, frozen=True, tag="plain"):
    """A number, a text, or None."""

    plain: int | float | str | None


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


Description = Tensor | Array | Plain | Sequence | Mapped | Item | Items


class Size(Op, frozen=True, tag="size"):
    """`MultiModalCache.get_item_size(value)`"""

    value: Description


class Complexity(Op, frozen=True, tag="complexity"):
    """`MultiModalCache.get_item_complexity(value)`"""

    value: Description


class CachedSize(Op, frozen=True, tag="cached_size"):
    """The size of an item in a `MultiModalProcessorCacheItem`, or of the metadata made of it."""

    item: Item
    is_metadata: bool = False


class Kept(Op, frozen=True, tag="kept"):
    """How many bytes of memory a cached payload keeps alive, asked of what a later hit returns."""

    payload: Tensor | Array
    cache: Literal["processor-only", "receiver"]


class CacheIfFits(Op, frozen=True, tag="cache_if_fits"):
    """`cache_if_fits(cache, key, value)` of a cache with this budget and an item of this size, in bytes."""

    nbytes: int
    budget: int


Operation = Size | Complexity | CachedSize | Kept | CacheIfFits


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
RULES: Mapping[tuple[str, str], Rule] = {
    **{("size", kind): rule(clause) for kind, clause in KINDS.items()},
    ("cached_size", "nested"): rule("IT-15"),
    ("cached_size", "no_leaves"): rule("IT-18"),
    ("cached_size", "array"): rule("IT-19"),
    ("complexity", "counted"): rule("IT-16"),
    ("cache_if_fits", "stored"): rule("IF-03"),
    ("cache_if_fits", "too_large"): rule("IF-03"),
    ("kept", "whole"): rule("IT-20"),
    ("kept", "view"): rule("IT-20"),
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


def leaves(value: Description) -> Iterator[Tensor | Array | Plain | None]:
    """The leaves in order; None for a container that has none.   [IT-12]"""
    members: tuple[Any, ...]
    match value:
        case Tensor() | Array() | Plain():
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


def leaf_size(leaf: Tensor | Array | Plain | None) -> int:
    """Bytes of one leaf.   [IT-13, IT-14, IT-18, IT-19]"""
    match leaf:
        case None:
            return 0
        case Plain(plain):
            return sys.getsizeof(plain)
        case Tensor(shape, dtype) | Array(shape, dtype):
            elements = 1
            for length in shape:
                elements *= length
            return elements * WIDTHS[dtype]


def complexity(value: Description) -> int:
    """The number of values inside dicts, lists and tuples.   [IT-16]"""
    match value:
        case Sequence(members):
            return sum(map(complexity, members))
        case Mapped(pairs):
            return sum(complexity(member) for _, member in pairs)
    return 1


def kinds(value: Description) -> set[str]:
    """Which clauses about sizes the value meets."""
    found = {"no_leaves": None, "array": Array, "tensor": Tensor, "plain": Plain}
    types = {type(leaf) if leaf is not None else None for leaf in leaves(value)}
    met = {kind for kind, wanted in found.items() if wanted in types}
    return met if isinstance(value, Tensor | Array | Plain) else met | {"nested"}


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
        if isinstance(value, Item):
            yield CachedSize(value)
            yield CachedSize(value, is_metadata=True)
        if isinstance(value, Tensor | Array):
            yield Kept(value, "processor-only")
            yield Kept(value, "receiver")


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
            size = sum(map(leaf_size, leaves(value)))
            return state, several(KINDS, kinds(value), size)
        case CachedSize(item):
            return state, several(KINDS, kinds(item), sum(map(leaf_size, leaves(item))))
        case Kept(payload):
            return state, Outcome("view" if payload.is_view else "whole", leaf_size(payload))
        case CacheIfFits(nbytes, budget):
            fits = nbytes <= budget
            return state, Outcome("stored" if fits else "too_large", (fits, nbytes if fits else 0))
        case Complexity(value):
            return state, Outcome("counted", complexity(value))
