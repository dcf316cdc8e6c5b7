"""Choices for sizes and the data model: nested values, with empty containers and views among them."""

from __future__ import annotations

from typing import Final, Literal

from hypothesis import strategies as st

from mmcache_ref.model import items as model
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.draws import Draw

configs = st.just(model.Config())
NAMES: Final = ("pixels", "grid", "mask")
FIELDS: Final[tuple[Literal["batched", "flat", "shared"], ...]] = ("batched", "flat", "shared")
CACHES: Final[tuple[Literal["processor-only", "receiver", "sender"], ...]] = (
    "processor-only",
    "receiver",
    "sender",
)
MODALITIES: Final = ("image", "video")
TENSOR_DTYPES: Final[tuple[model.DType, ...]] = tuple(sorted(model.WIDTHS))  # type: ignore[arg-type]
ARRAY_DTYPES: Final[tuple[model.DType, ...]] = ("uint8", "float32", "int64")
PLAIN: Final = (None, 0, 1, -1, 2**40, 0.5, -3.0, "", "token", "tökens")
DEEPEST: Final = 3


def shape(draw: Draw) -> tuple[int, ...]:
    """Up to three dimensions of up to four entries; a dimension may be empty."""
    return tuple([draw.up_to(4) for _ in range(draw.up_to(3))])


def payload(draw: Draw) -> model.Tensor | model.Array:
    """A tensor or an array, perhaps a view."""
    if draw.is_one_in(2):
        return model.Tensor(shape(draw), draw.of(TENSOR_DTYPES), draw.is_one_in(2))
    return model.Array(shape(draw), draw.of(ARRAY_DTYPES), draw.is_one_in(2))


def leaf(draw: Draw) -> model.Leaf:
    """A payload mostly; else a plain value, or an object of a class that no clause knows."""
    if draw.up_to(2):
        return payload(draw)
    return model.Opaque(draw.up_to(3)) if draw.is_one_in(8) else model.Plain(draw.of(PLAIN))


def value(draw: Draw, depth: int = DEEPEST) -> model.Description:
    """Payloads and plain values, in lists, tuples and dicts that may be empty."""
    role = draw.up_to(7)
    if depth == 0 or role <= 2:
        return leaf(draw)
    members = tuple([value(draw, depth - 1) for _ in range(draw.up_to(3))])
    if role <= 5:
        return model.Sequence(members, draw.is_one_in(2))
    return model.Mapped(tuple(zip(NAMES, members, strict=False)))


def item(draw: Draw) -> model.Item:
    """An item with up to three elements."""
    return model.Item(tuple([(name, value(draw, 1)) for name in NAMES[: draw.up_to(3)]]))


def anything(draw: Draw) -> model.Description:
    """A nested value, an item, or a collection of items."""
    role = draw.up_to(3)
    if role <= 1:
        return value(draw)
    if role == 2:
        return item(draw)
    return model.Items(
        tuple(
            [
                (modality, tuple([item(draw) for _ in range(draw.up_to(2))]))
                for modality in MODALITIES[: draw.up_to(2)]
            ]
        )
    )


def question(draw: Draw) -> model.Question:
    """A question about the data model, with payloads that differ in little."""
    role = draw.up_to(7)
    if role <= 1:
        fields = draw.of(FIELDS), draw.of(FIELDS)
        one, other = comparable(draw), comparable(draw)
        if draw.is_one_in(3):
            other = one
        return model.Equal(one, other, *(fields if draw.is_one_in(3) else (fields[0], fields[0])))
    if role <= 3:
        return batch(draw)
    if role == 4:
        numbers = [tuple([draw.up_to(3) for _ in range(draw.up_to(3))]) for _ in MODALITIES]
        members = tuple(zip(MODALITIES, numbers, strict=True))
        is_complete = all(all(items) for _, items in members)
        return model.Collection(members, is_required=not is_complete or draw.is_one_in(3))
    if role == 5:
        flags = tuple([draw.is_one_in(2) for _ in range(draw.up_to(6))])
        return model.Embeds(draw.up_to(9)) if draw.is_one_in(3) else model.Embeds(len(flags), flags)
    if role == 6:
        total = draw.up_to(9)
        return model.Info(draw.up_to(total), total, (draw.up_to(3), draw.up_to(3)))
    others: tuple[model.Question, ...] = (
        model.FieldTraits(draw.of(FIELDS)),
        model.GetData(NAMES[: draw.up_to(3)], NAMES[3 - draw.up_to(2) :]),
        model.Dummy(draw.of((None, 0, 1, 7))),
    )
    return draw.of(others)


def comparable(draw: Draw) -> model.Description:
    """A tensor, a plain value, or a list of them; no two that a clause is silent about."""
    if draw.is_one_in(4):
        return model.Sequence(tuple([comparable(draw) for _ in range(draw.up_to(2))]))
    if draw.is_one_in(4):
        return model.Plain(draw.of((None, 0, 1, "a")))
    return model.Tensor(draw.of(((2,), (1, 2), (0,), ())), draw.of(("uint8", "int64")), fill=draw.up_to(1))


def batch(draw: Draw) -> model.Batch:
    """Entries of one shape mostly; in a flat field they may differ along its dimension."""
    field = draw.of(FIELDS)
    count = 1 + draw.up_to(2)
    shape = tuple([1 + draw.up_to(2) for _ in range(1 + draw.up_to(1))])
    if field == "flat":
        dim = draw.up_to(len(shape) - 1)
        shapes = tuple([(*shape[:dim], draw.up_to(3), *shape[dim + 1 :]) for _ in range(count)])
        if dim == 0 and draw.is_one_in(3):
            return model.Batch(field, shapes, is_list=True)
        return model.Batch(field, shapes, dim - len(shape) if draw.is_one_in(3) else dim)
    if field == "batched" and draw.is_one_in(3):
        return model.Batch(field, tuple([(*shape[1:], 1 + draw.up_to(2)) for _ in range(count)]))
    return model.Batch(field, (shape,) * count)


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """One question."""
    role = draw.up_to(11)
    if role <= 3:
        return question(draw)
    if role <= 6:
        return model.Size(anything(draw))
    if role == 7:
        return model.LeafSize(leaf(draw)) if draw.is_one_in(3) else model.Complexity(anything(draw))
    if role == 8:
        later = value(draw, 1) if draw.is_one_in(3) else None
        return model.CachedSize(item(draw), draw.is_one_in(2), later)
    if role == 9:
        return model.CacheIfFits(draw.up_to(8), draw.up_to(8))
    if role == 10:
        twins = model.Twins(shape(draw), draw.of(ARRAY_DTYPES), draw.is_one_in(2))
        return model.MakeLru(draw.of((0, 1, 1000, 2**30, 3 * 2**29))) if draw.is_one_in(4) else twins
    cache = draw.of(CACHES)
    if cache == "sender" or not draw.is_one_in(3):
        return model.Kept(payload(draw), cache)
    inner = model.Sequence(tuple([payload(draw) for _ in range(draw.up_to(2))]), draw.is_one_in(2))
    return model.Kept(model.Sequence((payload(draw), inner), draw.is_one_in(2)), cache)
