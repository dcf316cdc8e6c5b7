"""What items are made of: elements, fields, batches, features' places.   [spec/01-items.md]

Questions without a state, as those of `items.py`, of which they are a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, Literal

import msgspec

from .component import Op, Outcome, Raised, Rule, rule
from .values import Description, Plain, Sequence, Shape, Tensor, elements, equal

Field = Literal["batched", "flat", "shared"]
FIELDS: tuple[Field, ...] = ("batched", "flat", "shared")
Small = Annotated[int, msgspec.Meta(ge=0, le=64)]


class Equal(Op, frozen=True, tag="equal"):
    """Is an element of these data and field equal to another?"""

    one: Description
    other: Description
    field: Field = "batched"
    other_field: Field = "batched"


class FieldTraits(Op, frozen=True, tag="field_traits"):
    """`keep_on_cpu` of a field by default; are positional arguments refused; is setting an attribute?"""

    field: Field


class Batch(Op, frozen=True, tag="batch"):
    """`build_elems` of data made of entries of these shapes, joined along `dim` in a flat field, and
    `reduce_data` of the elements. Entry i holds nothing but i + 1. A shared field has `shapes[0]` for all.
    With `is_list` the data of a flat field are a list, of the rows of all entries."""

    field: Field
    shapes: tuple[Shape, ...]
    dim: Annotated[int, msgspec.Meta(ge=-3, le=2)] = 0
    is_list: bool = False


class GetData(Op, frozen=True, tag="get_data"):
    """`item.get_data()`: for each key, is it there with the element's data? Those in `void` have `None`."""

    keys: tuple[str, ...]
    void: tuple[str, ...] = ()


class Dummy(Op, frozen=True, tag="dummy"):
    """`MultiModalKwargsItem.dummy(nbytes)`, or without an argument"""

    nbytes: Small | None = None


class Collection(Op, frozen=True, tag="collection"):
    """`get_data()` or `require_data()` of the items of each modality; a 0 is an item that is None.

    The others have one batched element with two bytes of their number.
    """

    members: tuple[tuple[str, tuple[Small, ...]], ...]
    is_required: bool = False


class Embeds(Op, frozen=True, tag="embeds"):
    """`PlaceholderRange(0, length, is_embed).get_num_embeds()`"""

    length: Small
    is_embed: tuple[bool, ...] | None = None


class Info(Op, frozen=True, tag="info"):
    """`hit_ratio` of a `CacheInfo(hits, total)`, and what it leaves of it to take another away"""

    hits: Small
    total: Small
    other: tuple[Small, Small] = (0, 0)


Question = Equal | FieldTraits | Batch | GetData | Dummy | Collection | Embeds | Info


class Block(msgspec.Struct, frozen=True, tag_field="result", tag="block"):
    """A payload: its shape, and its values row by row."""

    shape: tuple[int, ...]
    values: tuple[int, ...]


RULES: Mapping[tuple[str, str], Rule] = {
    ("equal", "equal"): rule("IT-01"),
    ("equal", "different"): rule("IT-01"),
    ("field_traits", "read"): rule("IT-02"),
    ("batch", "batched"): rule("IT-03"),
    ("batch", "ragged"): rule("IT-03"),
    ("batch", "flat"): rule("IT-04"),
    ("batch", "shared"): rule("IT-05"),
    ("get_data", "read"): rule("IT-06"),
    ("dummy", "made"): rule("IT-07"),
    ("collection", "batched"): rule("IT-08"),
    ("collection", "complete"): rule("IT-08"),
    ("collection", "incomplete"): rule("IT-08"),
    ("embeds", "all"): rule("IT-09"),
    ("embeds", "some"): rule("IT-09"),
    ("info", "read"): rule("IT-11"),
}


def questions() -> Iterator[Question]:
    """A few of each kind."""
    one, other = Tensor((2,), fill=1), Tensor((2,))
    wide, long, text = Tensor((2,), "int64", fill=1), Tensor((1, 2), fill=1), Plain("a")
    nested = Sequence((one, Sequence((text, Plain(None)))))
    values: tuple[Description, ...]
    values = (one, other, wide, long, text, Plain(1), Plain(None), Sequence(), Sequence((one,)), nested)
    for mine in values:
        for theirs in values:
            yield Equal(mine, theirs)
    for field, other_field in product(FIELDS, FIELDS):
        yield Equal(one, one, field, other_field)
    for field in FIELDS:
        yield FieldTraits(field)
        for shapes in (((2,),), ((2,), (2,)), ((1, 2), (3, 2), (0, 2)), ((), ()), ((2, 3), (2, 3), (2, 3))):
            if field != "flat" or shapes != ((), ()):
                yield Batch(field, shapes)
    for dim in (1, -1):
        yield Batch("flat", ((2, 1), (2, 3)), dim)
    yield Batch("flat", ((1, 2), (0, 2), (2, 2)), is_list=True)
    for keys in ((), ("a",), ("b", "a")):
        yield GetData(keys)
        yield GetData(keys, void=("c",))
    for nbytes in (None, 0, 1, 5):
        yield Dummy(nbytes)
    for members in ((), (("image", (1, 2)),), (("image", (3,)), ("video", (1, 2))), (("image", (1, 0)),)):
        yield Collection(members, is_required=True)
        if all(all(items) for _, items in members):
            yield Collection(members)
    for is_embed in (None, (), (True,), (False, False), (True, False, True)):
        yield Embeds(3 if is_embed is None else len(is_embed), is_embed)
    for counts in ((0, 0), (0, 4), (3, 4), (4, 4)):
        yield Info(*counts)
    yield Info(5, 7, (2, 3))


def joined(blocks: list[Block], dim: int) -> Block:
    """The blocks one behind the other along `dim`.   [IT-04]"""
    shape = list(blocks[0].shape)
    dim = range(len(shape))[dim]
    shape[dim] = sum(block.shape[dim] for block in blocks)
    before, after = elements(tuple(shape[:dim])), elements(tuple(shape[dim + 1 :]))
    values: list[int] = []
    for row in range(before):
        for block in blocks:
            width = block.shape[dim] * after
            values += block.values[row * width : (row + 1) * width]
    return Block(tuple(shape), tuple(values))


def entry(shape: Shape, number: int) -> Block:
    """The entry of a batch with this number: nothing but itself."""
    return Block(shape, (number,) * elements(shape))


def answer(question: Question) -> Outcome:
    """One question.   [IT-01, IT-02, IT-03, IT-05, IT-06, IT-07, IT-08, IT-09, IT-11]"""
    match question:
        case Equal(one, other, field, other_field):
            is_equal = field == other_field and equal(one, other)
            return Outcome("equal" if is_equal else "different", is_equal)
        case FieldTraits():
            return Outcome("read", (False, True, True))
        case Batch():
            return _batch(question)
        case GetData(keys, void):
            return Outcome("read", tuple([(key, True) for key in sorted({*keys, *void})]))
        case Dummy(nbytes):
            size = 1 if nbytes is None else nbytes
            return Outcome("made", ("dummy", size, "uint8", "MultiModalSharedField", 1))
        case Collection(members, is_required):
            return _collection(members, is_required)
        case Embeds(length, is_embed):
            if is_embed is None:
                return Outcome("all", length)
            return Outcome("some", sum(is_embed))
        case Info(hits, total, other):
            ratio = hits / total if total else 0
            return Outcome("read", (ratio, (hits - other[0], total - other[1])))


def _batch(question: Batch) -> Outcome:
    """The elements and what they are reduced to.   [IT-03, IT-04, IT-05]"""
    entries = [entry(shape, number + 1) for number, shape in enumerate(question.shapes)]
    if question.field == "shared":
        return Outcome("shared", ((entries[0],) * len(entries), entries[0]))
    if question.field == "flat" and question.is_list:
        rows = [(entry(shape[1:], number + 1),) * shape[0] for number, shape in enumerate(question.shapes)]
        return Outcome("flat", (tuple(rows), tuple([row for each in rows for row in each])))
    if question.field == "flat":
        return Outcome("flat", (tuple(entries), joined(entries, question.dim)))
    if len(set(question.shapes)) > 1:
        return Outcome("ragged", (tuple(entries), tuple(entries)))
    values = tuple([value for block in entries for value in block.values])
    return Outcome("batched", (tuple(entries), Block((len(entries), *question.shapes[0]), values)))


def _collection(members: tuple[tuple[str, tuple[int, ...]], ...], is_required: bool) -> Outcome:
    """The batch of each modality, or the collection itself if nothing of it is missing.   [IT-08]"""
    if is_required:
        is_complete = all(all(items) for _, items in members)
        return Outcome("complete", "itself") if is_complete else Outcome("incomplete", Raised("RuntimeError"))
    batches = [
        (modality, Block((len(items), 2), tuple([number for number in items for _ in range(2)])))
        for modality, items in members
        if items
    ]
    return Outcome("batched", tuple(sorted(batches)))
