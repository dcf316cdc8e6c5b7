"""Fields: cutting the data of a batch into elements, and putting it together again."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.reference.fields import (
    BaseMultiModalField,
    MultiModalBatchedField,
    MultiModalFieldConfig,
    MultiModalFieldElem,
    MultiModalFlatField,
    MultiModalSharedField,
)
from mmcache_ref.reference.tensors import nested_tensors_equal

BATCHED = MultiModalBatchedField()
CUTS = (slice(0, 1), slice(1, 3))
FLAT = MultiModalFlatField(slices=CUTS)
DTYPES = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64]


def build(field: BaseMultiModalField, data: Any) -> list[Any]:
    elements = field.build_elems("image", "key", data)
    assert all(element.field is field for element in elements)
    return [element.data for element in elements]


def reduce(field: BaseMultiModalField, parts: list[Any], **options: Any) -> Any:
    return field.reduce_data([MultiModalFieldElem(part, field) for part in parts], **options)


def assert_same(actual: Any, expected: Any) -> None:
    assert nested_tensors_equal(actual, expected), f"{actual} is not {expected}"


@pytest.mark.clause("IT-02")
@pytest.mark.parametrize("field", [BATCHED, FLAT, MultiModalSharedField(batch_size=2)])
def test_fields_are_frozen_and_let_the_batch_go_to_the_device(field: BaseMultiModalField) -> None:
    assert field.keep_on_cpu is False
    with pytest.raises(dataclasses.FrozenInstanceError):
        field.keep_on_cpu = True  # type: ignore[misc]


@pytest.mark.clause("IT-02")
@pytest.mark.parametrize("field_type", [MultiModalBatchedField, MultiModalFlatField, MultiModalSharedField])
def test_fields_take_keyword_arguments_only(field_type: Any) -> None:
    with pytest.raises(TypeError, match="positional"):
        field_type(2)


@pytest.mark.clause("IT-03")
def test_a_batch_becomes_its_entries_and_equal_shapes_are_stacked_again() -> None:
    batch = torch.tensor([[1, 2], [3, 4], [5, 6]])
    parts = build(BATCHED, batch)
    assert_same(parts, [torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([5, 6])])
    assert_same(reduce(BATCHED, parts), batch)


@pytest.mark.clause("IT-03")
@pytest.mark.parametrize(
    ("data", "parts", "reduced"),
    [
        (torch.tensor([7, 8]), [torch.tensor(7), torch.tensor(8)], torch.tensor([7, 8])),
        (np.array([7, 8]), [np.array(7), np.array(8)], np.array([7, 8])),
        (np.array([[7], [8]]), [np.array([7]), np.array([8])], np.array([[7], [8]])),
        ([torch.tensor([7])], [torch.tensor([7])], torch.tensor([[7]])),
        (
            (torch.tensor([7]), torch.tensor([8])),
            [torch.tensor([7]), torch.tensor([8])],
            torch.tensor([[7], [8]]),
        ),
        ([torch.tensor([7]), torch.tensor([8, 9])],) * 3,
        ([torch.tensor(7), torch.tensor([8])],) * 3,
        ([torch.tensor([7]), np.array([8])],) * 3,
        ([np.array([7]), np.array([8, 9])],) * 3,
        ([1, 2.5],) * 3,
        ([1, torch.tensor([1])],) * 3,
        ([None, None],) * 3,
        ([[torch.tensor([1])], [torch.tensor([2])]],) * 3,
        ([],) * 3,
        (torch.zeros(0, 2), [], []),
    ],
)
def test_batched_data_of_every_kind(data: Any, parts: list[Any], reduced: Any) -> None:
    assert_same(build(BATCHED, data), parts)
    assert_same(reduce(BATCHED, parts), reduced)


@pytest.mark.clause("IT-03")
@pytest.mark.parametrize("data", [None, 3, torch.tensor(3), np.array(3)])
def test_data_without_entries_is_refused(data: Any) -> None:
    with pytest.raises(TypeError):
        build(BATCHED, data)


@pytest.mark.clause("IT-03", "IT-04")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("field", [BATCHED, FLAT], ids=["batched", "flat"])
def test_the_dtype_survives(field: BaseMultiModalField, dtype: torch.dtype) -> None:
    data = torch.tensor([[1, 0], [0, 1], [1, 1]]).to(dtype)
    assert_same(reduce(field, build(field, data)), data)


@pytest.mark.clause("IT-03", "IT-04")
@pytest.mark.parametrize("field", [BATCHED, FLAT], ids=["batched", "flat"])
def test_views_are_put_together_by_their_values(field: BaseMultiModalField) -> None:
    wide = torch.arange(12).reshape(2, 6)
    data = wide.t()[::2]
    assert_same(reduce(field, build(field, data)), torch.tensor([[0, 6], [2, 8], [4, 10]]))


@pytest.mark.clause("IT-03", "IT-04")
@pytest.mark.parametrize("field", [BATCHED, FLAT], ids=["batched", "flat"])
@pytest.mark.parametrize("library", [torch.tensor, np.array], ids=["tensors", "arrays"])
def test_the_first_dtype_decides_and_a_float_never_becomes_an_integer(field: Any, library: Any) -> None:
    mixed = reduce(field, [library([1.5]), library([2])])
    assert nested_tensors_equal(mixed.reshape(-1), library([1.5, 2.0]))
    with pytest.raises(TypeError):
        reduce(field, [library([1]), library([2.5])])


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize("library", [torch.tensor, np.array], ids=["tensors", "arrays"])
@pytest.mark.parametrize(
    "cuts", [CUTS, [(slice(None), CUTS[0]), [slice(None), CUTS[1]]]], ids=["plain", "nested"]
)
@pytest.mark.parametrize("dim", [1, -1])
def test_flat_data_is_cut_along_the_dimension(library: Any, cuts: Any, dim: int) -> None:
    field = MultiModalFlatField(slices=cuts, dim=dim)
    data = library([[1, 2, 3], [4, 5, 6]])
    parts = build(field, data)
    assert_same(parts, [library([[1], [4]]), library([[2, 3], [5, 6]])])
    assert_same(reduce(field, parts), data)


@pytest.mark.clause("IT-04")
def test_flat_data_is_cut_along_an_inner_dimension_counted_from_the_end() -> None:
    field = MultiModalFlatField(slices=[slice(0, 1), slice(1, 2)], dim=-2)
    data = torch.arange(4).reshape(2, 2, 1)
    parts = build(field, data)
    assert_same(parts, [torch.tensor([[[0]], [[2]]]), torch.tensor([[[1]], [[3]]])])
    assert_same(reduce(field, parts), data)


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize(
    ("data", "parts", "reduced"),
    [
        (torch.tensor([7, 8, 9]), [torch.tensor([7]), torch.tensor([8, 9])], torch.tensor([7, 8, 9])),
        (np.array([7, 8, 9]), [np.array([7]), np.array([8, 9])], np.array([7, 8, 9])),
        ([7, 8, 9], [[7], [8, 9]], [7, 8, 9]),
        ((7, None, 9), [(7,), (None, 9)], [7, None, 9]),
        ([[1], [2], [3, 4]], [[[1]], [[2], [3, 4]]], [[1], [2], [3, 4]]),
        (torch.tensor([7]), [torch.tensor([7]), torch.tensor([], dtype=torch.int64)], torch.tensor([7])),
    ],
)
def test_flat_data_of_every_kind(data: Any, parts: list[Any], reduced: Any) -> None:
    assert_same(build(FLAT, data), parts)
    assert_same(reduce(FLAT, parts), reduced)


@pytest.mark.clause("IT-04")
def test_flat_parts_of_both_kinds_become_a_list() -> None:
    assert_same(reduce(FLAT, [torch.tensor([1]), [torch.tensor([2])]]), [torch.tensor(1), torch.tensor([2])])
    assert reduce(FLAT, []) == []


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize("library", [torch.tensor, np.array], ids=["tensors", "arrays"])
def test_flat_parts_that_are_smaller_elsewhere_are_padded_with_zeros(library: Any) -> None:
    parts = [library([[1, 2]]), library([[3], [4]]), library([[5, 6, 7]])]
    padded = library([[1, 2, 0], [3, 0, 0], [4, 0, 0], [5, 6, 7]])
    assert_same(reduce(FLAT, parts), padded)
    along_1 = library([[1, 2, 3, 5, 6, 7], [0, 0, 4, 0, 0, 0]])
    assert_same(reduce(MultiModalFlatField(slices=CUTS, dim=1), parts), along_1)
    with pytest.raises(TypeError):
        reduce(FLAT, [library([[1]]), library([[2.5, 1.0]])])


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize(
    ("dim", "parts", "error"),
    [
        (0, [torch.tensor(1), torch.tensor(2)], IndexError),
        (2, [torch.tensor([[1]]), torch.tensor([[2]])], IndexError),
        (0, [torch.tensor([1]), torch.tensor([[2]])], ValueError),
        (0, [1, 2], TypeError),
        (0, [None, None], TypeError),
        (1, [[1], [2]], AssertionError),
    ],
)
def test_flat_parts_that_do_not_join_are_refused(dim: int, parts: list[Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        reduce(MultiModalFlatField(slices=CUTS, dim=dim), parts)


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize("data", [None, 3])
def test_flat_data_that_cannot_be_cut_is_refused(data: Any) -> None:
    with pytest.raises(TypeError):
        build(FLAT, data)
    with pytest.raises(AssertionError, match="tensor or an array"):
        build(MultiModalFlatField(slices=[(slice(0, 1),)]), data)


@pytest.mark.clause("IT-05")
@pytest.mark.parametrize("data", [torch.tensor([1]), np.array([1]), [1, torch.tensor(2)], 3, None])
def test_shared_data_is_the_same_object_in_each_element_and_comes_back(data: Any) -> None:
    field = MultiModalSharedField(batch_size=3)
    parts = build(field, data)
    assert len(parts) == 3
    assert all(part is data for part in parts)
    assert reduce(field, parts) is data


@pytest.mark.clause("IT-05")
def test_data_shared_by_no_item_has_no_elements_and_does_not_come_back() -> None:
    field = MultiModalSharedField(batch_size=0)
    assert build(field, 1) == []
    with pytest.raises(IndexError):
        reduce(field, [])


@pytest.mark.clause("IT-03", "IT-04", "IT-05")
def test_elements_of_different_field_types_form_no_batch() -> None:
    elements = [MultiModalFieldElem(1, BATCHED), MultiModalFieldElem(1, MultiModalSharedField(batch_size=2))]
    with pytest.raises(ValueError, match="MultiModalBatchedField, MultiModalSharedField"):
        BATCHED.reduce_data(elements)


@pytest.mark.clause("IT-03", "IT-04")
def test_the_field_that_is_asked_decides_how_its_elements_are_put_together() -> None:
    elements = [MultiModalFieldElem(torch.tensor([[part]]), FLAT) for part in (1, 2)]
    across = MultiModalFlatField(slices=[], dim=1)
    assert_same(across.reduce_data(elements), torch.tensor([[1, 2]]))


@pytest.mark.clause("IT-02")
def test_a_device_is_for_tensors_at_any_depth_unless_the_field_keeps_them() -> None:
    data = (torch.tensor([1]), [torch.tensor(2)], {"a": torch.tensor(3)}, 4, None)
    moved = reduce(MultiModalSharedField(batch_size=1), [data], device="meta")
    assert [moved[0].device.type, moved[1][0].device.type, moved[2]["a"].device.type] == ["meta"] * 3
    assert moved[3:] == (4, None)
    keeping = MultiModalBatchedField(keep_on_cpu=True)
    assert reduce(keeping, [torch.tensor([1])] * 2, device="meta", pin_memory=True).device.type == "cpu"


@pytest.mark.clause("IT-04")
def test_slices_are_made_from_sizes() -> None:
    config = MultiModalFieldConfig.flat_from_sizes("image", torch.tensor([1, 0, 2]), dim=1)
    assert config.modality == "image"
    assert config.field == MultiModalFlatField(
        slices=[
            (slice(None), slice(0, 1)),
            (slice(None), slice(1, 1)),
            (slice(None), slice(1, 3)),
        ],
        dim=1,
    )
    parts = config.build_elems("key", torch.tensor([[1, 2, 3]]))
    assert_same(
        [part.data for part in parts], [torch.tensor([[1]]), torch.zeros(1, 0).long(), torch.tensor([[2, 3]])]
    )


@pytest.mark.clause("IT-04")
def test_sizes_apply_to_a_dimension_counted_from_the_end() -> None:
    config = MultiModalFieldConfig.flat_from_sizes("image", np.array([1, 2]), dim=-1, keep_on_cpu=True)
    assert config.field.keep_on_cpu
    parts = config.build_elems("key", torch.tensor([[1, 2, 3]]))
    assert_same([part.data for part in parts], [torch.tensor([[1]]), torch.tensor([[2, 3]])])


@pytest.mark.clause("IT-04")
@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        (torch.tensor([[1, 2]]), ValueError),
        (torch.tensor(1), ValueError),
        (torch.tensor([1.0]), TypeError),
        ([1, 2], TypeError),
    ],
)
def test_sizes_are_a_vector_of_integers(sizes: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        MultiModalFieldConfig.flat_from_sizes("image", sizes)


@pytest.mark.clause("IT-02")
def test_configs_make_the_field_they_name() -> None:
    config = MultiModalFieldConfig
    assert config.batched("image", keep_on_cpu=True).field == MultiModalBatchedField(keep_on_cpu=True)
    flat = MultiModalFlatField(slices=CUTS, dim=1, keep_on_cpu=True)
    assert config.flat("image", CUTS, 1, keep_on_cpu=True).field == flat
    shared = MultiModalSharedField(batch_size=3, keep_on_cpu=True)
    assert config.shared("video", 3, keep_on_cpu=True) == config(shared, "video")


shapes = st.lists(st.integers(0, 3), min_size=1, max_size=3)


@pytest.mark.clause("IT-03", "IT-04")
@given(data=st.data(), shape=shapes, arrays=st.booleans())
def test_reducing_undoes_building(data: st.DataObject, shape: list[int], arrays: bool) -> None:
    batch: Any = torch.arange(int(np.prod(shape))).reshape(shape)
    batch = batch.numpy() if arrays else batch
    if shape[0]:
        assert_same(reduce(BATCHED, build(BATCHED, batch)), batch)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    ends = [*sorted(data.draw(st.lists(st.integers(0, shape[dim]), max_size=3))), shape[dim]]
    starts = [0, *ends[:-1]]
    flat = MultiModalFlatField(slices=[slice(*cut) for cut in zip(starts, ends, strict=True)], dim=dim)
    assert_same(reduce(flat, build(flat, batch)), batch)
