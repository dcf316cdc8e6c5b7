"""Choices for sizes and the data model: nested values, with empty containers and views among them."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from mmcache_ref.model import items as model
from mmcache_ref.model.component import Op
from mmcache_ref.oracle.draws import Draw

configs = st.just(model.Config())
NAMES: Final = ("pixels", "grid", "mask")
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


def value(draw: Draw, depth: int = DEEPEST) -> model.Description:
    """Payloads and plain values, in lists, tuples and dicts that may be empty."""
    role = draw.up_to(7)
    if depth == 0 or role <= 2:
        return payload(draw) if draw.up_to(2) else model.Plain(draw.of(PLAIN))
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


def choose(config: model.Config, state: model.State, draw: Draw) -> Op:
    """One question."""
    role = draw.up_to(7)
    if role <= 2:
        return model.Size(anything(draw))
    if role == 3:
        return model.Complexity(anything(draw))
    if role == 4:
        return model.CachedSize(item(draw), draw.is_one_in(2))
    if role == 5:
        return model.CacheIfFits(draw.up_to(8), draw.up_to(8))
    return model.Kept(payload(draw), "processor-only" if draw.is_one_in(2) else "receiver")
