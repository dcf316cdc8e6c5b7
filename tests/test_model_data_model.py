"""The model of elements, fields and collections, with values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model.component import Outcome, Raised
from mmcache_ref.model.data_model import (
    Batch,
    Block,
    Collection,
    Dummy,
    Embeds,
    Equal,
    FieldTraits,
    GetData,
    Info,
)
from mmcache_ref.model.items import CachedSize, Config, Item, MakeLru, State, Twins, step
from mmcache_ref.model.values import Plain, Sequence, Tensor

ONES, ZEROS = Tensor((2,), fill=1), Tensor((2,))


def ask(question: Any) -> Outcome:
    return step(Config(), State(), question)[1]


def answer(question: Any) -> Any:
    return ask(question).result


@pytest.mark.clause("IT-01")
@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        (ONES, ONES, True),
        (ONES, ZEROS, False),
        (ONES, Tensor((1, 2), fill=1), False),
        (ONES, Tensor((2,), "int64", fill=1), False),
        (Tensor((0,), fill=1), Tensor((0,)), True),
        (ONES, Tensor((2,), is_view=True, fill=1), True),
        (Plain(None), Plain(None), True),
        (Plain(None), Plain(0), False),
        (Sequence((ONES, Plain(1))), Sequence((ONES, Plain(1))), True),
        (Sequence((ONES,)), Sequence((ZEROS,)), False),
        (Sequence((ONES,)), Sequence((ONES, ONES)), False),
        (Sequence((ONES,)), ONES, False),
    ],
)
def test_elements_are_equal_by_value_shape_and_dtype(one: Any, other: Any, is_equal: bool) -> None:
    assert answer(Equal(one, other)) is is_equal


@pytest.mark.clause("IT-01")
def test_elements_of_different_fields_are_not_equal() -> None:
    assert answer(Equal(ONES, ONES, "batched", "shared")) is False
    assert answer(Equal(ONES, ONES, "shared", "shared")) is True


@pytest.mark.clause("IT-02")
def test_a_field_stays_on_no_cpu_takes_keywords_and_is_frozen() -> None:
    assert answer(FieldTraits("flat")) == (False, True, True)


@pytest.mark.clause("IT-03")
def test_a_batch_of_one_shape_is_a_tensor_and_else_a_list() -> None:
    row_1, row_2 = Block((2,), (1, 1)), Block((2,), (2, 2))
    assert answer(Batch("batched", ((2,), (2,)))) == ((row_1, row_2), Block((2, 2), (1, 1, 2, 2)))
    short = Block((1,), (2,))
    assert answer(Batch("batched", ((2,), (1,)))) == ((row_1, short), (row_1, short))


@pytest.mark.clause("IT-04")
def test_a_flat_batch_is_joined_along_its_dimension() -> None:
    """Along dimension 1 each row has a 1, then two 2s."""
    parts = (Block((2, 1), (1, 1)), Block((2, 2), (2, 2, 2, 2)))
    whole = Block((2, 3), (1, 2, 2, 1, 2, 2))
    assert answer(Batch("flat", ((2, 1), (2, 2)), dim=1)) == (parts, whole)
    rows = (Block((1, 2), (1, 1)), Block((2, 2), (2, 2, 2, 2)))
    assert answer(Batch("flat", ((2, 1), (2, 2)), dim=-1)) == (parts, whole)
    assert answer(Batch("flat", ((1, 2), (2, 2)))) == (rows, Block((3, 2), (1, 1, 2, 2, 2, 2)))


@pytest.mark.clause("IT-04")
def test_the_elements_of_a_list_in_a_flat_field_are_its_parts() -> None:
    one, two = Block((2,), (1, 1)), Block((2,), (2, 2))
    assert answer(Batch("flat", ((1, 2), (2, 2)), is_list=True)) == (((one,), (two, two)), (one, two, two))
    assert answer(Batch("flat", ((1, 2), (0, 2)), is_list=True)) == (((one,), ()), (one,))


@pytest.mark.clause("IT-05")
def test_shared_data_is_the_same_for_all() -> None:
    data = Block((2,), (1, 1))
    assert answer(Batch("shared", ((2,), (2,), (2,)))) == ((data, data, data), data)


@pytest.mark.clause("IT-06")
def test_an_item_gives_the_data_of_each_key() -> None:
    assert answer(GetData(("b", "a"))) == (("a", True), ("b", True))
    assert answer(GetData(("b",), void=("a",))) == (("a", True), ("b", True))


@pytest.mark.clause("IT-07")
def test_a_dummy_has_as_many_bytes_as_it_was_asked_for() -> None:
    assert answer(Dummy()) == ("dummy", 1, "uint8", "MultiModalSharedField", 1)
    assert answer(Dummy(0)) == ("dummy", 0, "uint8", "MultiModalSharedField", 1)


@pytest.mark.clause("IT-08")
def test_a_collection_is_batched_by_modality_and_complete_or_not() -> None:
    members = (("image", (1, 2)), ("video", (3,)))
    images, videos = Block((2, 2), (1, 1, 2, 2)), Block((1, 2), (3, 3))
    assert answer(Collection(members)) == (("image", images), ("video", videos))
    assert answer(Collection(members, is_required=True)) == "itself"
    assert answer(Collection((("image", (1, 0)),), is_required=True)) == Raised("RuntimeError")


@pytest.mark.clause("IT-09")
def test_embeddings_are_the_true_positions_or_all() -> None:
    assert answer(Embeds(7)) == 7
    assert answer(Embeds(3, (True, False, True))) == 2


@pytest.mark.clause("IT-11")
def test_counters_have_a_ratio_and_a_difference() -> None:
    assert answer(Info(3, 4, (1, 1))) == (0.75, (2, 3))
    assert answer(Info(0, 0)) == (0, (0, 0))


@pytest.mark.clause("IT-15")
def test_metadata_keeps_the_size_and_a_cached_item_follows() -> None:
    """2 bytes, and 3 that come later."""
    item, later = Item((("a", ONES),)), Tensor((3,))
    assert answer(CachedSize(item, is_metadata=True, later=later)) == 2
    assert answer(CachedSize(item, later=later)) == 5


@pytest.mark.clause("IT-21")
def test_a_tensor_and_an_array_weigh_the_same() -> None:
    assert answer(Twins((2, 3), "float32", is_view=True)) == (24, 24)


@pytest.mark.clause("IT-17")
def test_an_lru_is_made_empty_with_its_whole_budget() -> None:
    assert answer(MakeLru(3 * 2**29)) == (0, 3 * 2**29, 0)
