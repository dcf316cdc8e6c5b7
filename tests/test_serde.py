"""The default serde: what is written comes back equal."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.reference import (
    MultiModalBatchedField,
    MultiModalFieldElem,
    MultiModalFlatField,
    MultiModalKwargsItem,
    MultiModalSharedField,
)
from mmcache_ref.reference.serde import ItemClasses, MsgpackSerde, ObjectSerde, SerdeError
from mmcache_ref.reference.tensors import nested_tensors_equal

pytestmark = pytest.mark.timeout(60)

SEAL = 16
BATCHED = MultiModalBatchedField()
FLAT = MultiModalFlatField(slices=[slice(0, 3), [slice(1), slice(3, None, 2)]], dim=1, keep_on_cpu=True)
SHARED = MultiModalSharedField(batch_size=3)


def payload(value: Any, serde: ObjectSerde | None = None) -> memoryview:
    """Metadata and data of `value`, one behind the other, as a store lays them out."""
    data, data_bytes, metadata, md_bytes = (serde or MsgpackSerde()).serialize(value)
    whole = bytearray(metadata)
    for part in data:
        whole += part
    assert (md_bytes, data_bytes) == (len(metadata), len(whole) - len(metadata))
    return memoryview(whole)


def again(value: Any) -> Any:
    return MsgpackSerde().deserialize(payload(value))


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.tuples(st.integers()), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.clause("OS-38")
@given(plain)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    assert repr(again(value)) == repr(value)


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**40], ids=str)
def test_integers_of_any_size_come_back(value: int) -> None:
    assert again(value) == value


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("part", [slice(None), slice(1, 2), slice(5, None, -1)], ids=str)
def test_slices_come_back(part: slice) -> None:
    assert again([part]) == [part]


TENSORS = {
    "bfloat16": torch.arange(6).to(torch.bfloat16).reshape(2, 3),
    "float16": torch.tensor([1.5, -2]).half(),
    "float8": torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn),
    "int64": torch.tensor([[2**62, -1]]),
    "uint8": torch.arange(5, dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "complex": torch.tensor([1 + 2j]),
    "nan": torch.tensor([float("nan")]),
    "scalar": torch.tensor(3.5),
    "scalar bfloat16": torch.tensor(3.5, dtype=torch.bfloat16),
    "empty": torch.empty(0),
    "empty with a shape": torch.empty(2, 0, 3, dtype=torch.int16),
    "transposed": torch.arange(6).reshape(2, 3).T,
    "every second": torch.arange(9)[::2],
    "one of many": torch.arange(9.0)[::2][1:2],
    "expanded": torch.ones(1, 3).expand(4, 3),
    "conjugated": torch.tensor([1 + 2j, 3 - 4j]).conj(),
    "negated": torch.tensor([1 + 2j]).conj().imag,
    "of a graph": torch.ones(2, requires_grad=True) * 2,
}


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_tensors_come_back_by_dtype_shape_and_bytes(tensor: torch.Tensor) -> None:
    back = again(tensor)
    assert type(back) is torch.Tensor
    assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(bits(back), bits(tensor.detach()))
    assert not back.requires_grad


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, so that a NaN equals itself."""
    plain = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor)
    return plain.reshape(-1).view(torch.uint8)


ARRAYS = {
    "float32": np.arange(6, dtype=np.float32).reshape(2, 3),
    "big endian": np.arange(3, dtype=">i4"),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "text": np.array(["a", "bcd"]),
    "bytes": np.array([b"a", b"bcd"]),
    "dates": np.array(["2020-02-29"], dtype="M8[D]"),
    "scalar": np.array(7),
    "empty": np.empty((0, 3)),
    "transposed": np.arange(6).reshape(2, 3).T,
    "every second": np.arange(9)[::-2],
    "one of many": np.arange(9.0)[::2][1:2],
    "read only": np.frombuffer(b"abcd", np.uint8),
}


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_come_back_by_dtype_shape_and_bytes(array: np.ndarray[Any, Any]) -> None:
    back = again(array)
    assert type(back) is np.ndarray
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()
    assert back.flags.writeable


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("scalar", [np.float32(1.5), np.int8(-3), np.bool_(True), np.float64(2)], ids=repr)
def test_numpy_scalars_come_back(scalar: np.generic) -> None:
    back = again((scalar, 1))[0]
    assert type(back) is type(scalar)
    assert back == scalar


def item() -> MultiModalKwargsItem:
    return MultiModalKwargsItem(
        {
            "pixel_values": MultiModalFieldElem(torch.arange(12).to(torch.bfloat16).reshape(3, 4), BATCHED),
            "grid": MultiModalFieldElem([1, (2.5, None), [np.arange(3)]], FLAT),
            "absent": MultiModalFieldElem(None, SHARED),
        }
    )


@pytest.mark.clause("OS-38", "OS-39")
def test_an_item_comes_back_with_its_fields() -> None:
    back = again(item())
    assert type(back) is MultiModalKwargsItem
    assert list(back) == ["pixel_values", "grid", "absent"]
    assert back == item()
    assert [element.field for element in back.values()] == [BATCHED, FLAT, SHARED]


@pytest.mark.clause("OS-38")
def test_an_element_comes_back() -> None:
    assert again({"one": item()["grid"]}) == {"one": item()["grid"]}


@pytest.mark.clause("OS-38")
def test_an_item_without_elements_comes_back() -> None:
    assert again(MultiModalKwargsItem()) == MultiModalKwargsItem()


@pytest.mark.clause("OS-20", "OS-38")
@pytest.mark.parametrize("leaf", [torch.arange(3), np.arange(3), torch.ones(3).bfloat16()], ids=str)
def test_what_comes_back_has_memory_of_its_own(leaf: Any) -> None:
    bytes_ = payload([leaf, leaf])
    first, second = MsgpackSerde().deserialize(bytes_)
    bytes_[:] = bytes(len(bytes_))
    second[0] = 7
    assert nested_tensors_equal(first, leaf)
    bytes_.release()


@pytest.mark.clause("OS-38")
def test_bytes_of_contiguous_leaves_are_not_copied_when_they_are_written() -> None:
    array, tensor = np.zeros(4, np.uint8), torch.zeros(4, dtype=torch.uint8)
    leaves, *_ = MsgpackSerde().serialize([array, tensor])
    array[0], tensor[0] = 7, 8
    assert [part[0] for part in leaves] == [7, 8]


PLANNED = [
    item(),
    MultiModalKwargsItem(),
    [1, None, "text"],
    [[1, [2]], item(), [np.arange(3), torch.ones(2, 2).bfloat16()]],
    MultiModalKwargsItem({"empty": MultiModalFieldElem(torch.empty(0, 3), FLAT)}),
    *[[tensor] for tensor in TENSORS.values()],
    *[[array] for array in ARRAYS.values()],
]


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("value", PLANNED, ids=lambda value: repr(value)[:30])
def test_a_structure_that_comes_again_is_read_alike(value: Any) -> None:
    serde = MsgpackSerde()
    bytes_ = payload(value)
    first = serde.deserialize(bytes_)
    (plan,) = serde._reader._plans.values()
    assert plan is not None
    second = serde.deserialize(bytes_)
    for each in (first, second):
        assert bytes(payload(each)) == bytes(bytes_)
    assert repr(first) == repr(second)
    third = serde.deserialize(bytes_)
    assert first is not second is not third


@pytest.mark.clause("OS-20")
@pytest.mark.parametrize("slices", [[slice(0, 2)], [[slice(0, 2)], (slice(1),)]], ids=repr)
def test_what_was_read_is_not_changed_by_what_is_done_with_another_copy(slices: list[Any]) -> None:
    serde = MsgpackSerde()
    field = MultiModalFlatField(slices=slices, dim=1, keep_on_cpu=True)
    bytes_ = payload(MultiModalKwargsItem({"a": MultiModalFieldElem([1, [2]], field)}))
    copies: list[Any] = [serde.deserialize(bytes_)["a"] for _ in range(3)]
    for each in copies:
        assert (each.field, each.data) == (field, [1, [2]])
        each.field.slices[0] = each.data[1][0] = "changed"
        each.field.slices.append("changed")


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize(
    "value", [{"a": 1}, [b"x"], (b"x",), [slice([1])], [2**70], item()["grid"]], ids=repr
)
def test_a_structure_without_a_plan_is_read_again_and_again(value: Any) -> None:
    serde = MsgpackSerde()
    for _ in range(3):
        assert serde.deserialize(payload(value)) == value
    assert list(serde._reader._plans.values()) == [None]


@pytest.mark.clause("OS-24")
def test_a_plan_is_for_as_many_bytes_as_the_structure_says() -> None:
    serde = MsgpackSerde()
    bytes_ = payload([np.arange(3)])
    for _ in range(2):
        serde.deserialize(bytes_)
        for wrong in (bytes_[:-1], memoryview(bytes(bytes_) + b"x")):
            with pytest.raises(SerdeError):
                serde.deserialize(wrong)


@pytest.mark.clause("OS-24")
def test_plans_are_few_and_small() -> None:
    serde = MsgpackSerde()
    for length in range(600):
        serde.deserialize(payload([np.zeros(length)]))
        assert len(serde._reader._plans) <= 256
    serde.deserialize(payload(list(range(9999))))
    assert max(map(len, serde._reader._plans)) < 100


class Seven(IntEnum):
    SEVEN = 7


class Array(np.ndarray[Any, Any]):
    pass


UNWRITABLE = {
    "a set": {1},
    "an object": object(),
    "a function": len,
    "a class": int,
    "an enumeration": Seven.SEVEN,
    "objects in an array": np.array([None]),
    "named fields": np.zeros(1, dtype=[("a", "i4")]),
    "a text without room": np.str_(""),
    "records without room": np.zeros(3, dtype="|V0"),
    "bits": torch.empty(2, dtype=torch.bits8),
    "half a byte": torch.empty(2, dtype=torch.uint4),
    "a kind of array": np.zeros(1).view(Array),
    "a sparse tensor": torch.zeros(2, 2).to_sparse(),
    "a tensor without bytes": torch.zeros(2, device="meta"),
    "a parameter": torch.nn.Parameter(torch.zeros(1)),
    "half of a character": "\ud800",
    "an item without names": MultiModalKwargsItem({1: MultiModalFieldElem(1, BATCHED)}),  # type: ignore[dict-item]
    "an item of numbers": MultiModalKwargsItem({"a": 1}),  # type: ignore[dict-item]
    "a field of its own": MultiModalFieldElem(1, object()),  # type: ignore[arg-type]
}


@pytest.mark.clause("OS-38")
@pytest.mark.parametrize("value", UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_cannot_be_written_is_refused(value: Any) -> None:
    with pytest.raises(SerdeError):
        MsgpackSerde().serialize([value])


@pytest.mark.clause("OS-38")
def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(SerdeError):
        MsgpackSerde().serialize(endless)


@pytest.mark.clause("OS-39")
@pytest.mark.upstream
def test_items_come_back_in_the_classes_that_the_reader_names(release: Any) -> None:
    inputs = sys.modules[release.MultiModalKwargsItem.__module__]
    theirs = ItemClasses(
        item=inputs.MultiModalKwargsItem,
        element=inputs.MultiModalFieldElem,
        batched=inputs.MultiModalBatchedField,
        flat=inputs.MultiModalFlatField,
        shared=inputs.MultiModalSharedField,
    )

    class TheirSerde(MsgpackSerde):
        item_classes = theirs

    there = TheirSerde().deserialize(payload(item()))
    assert type(there) is inputs.MultiModalKwargsItem
    assert {type(element) for element in there.values()} == {inputs.MultiModalFieldElem}
    assert [type(element.field).__module__ for element in there.values()] == [inputs.__name__] * 3
    back = MsgpackSerde().deserialize(payload(there, TheirSerde()))
    assert type(back) is MultiModalKwargsItem
    assert back == item()


def test_the_metadata_begins_with_room_for_the_seal() -> None:
    assert MsgpackSerde.SEAL_BYTES == SEAL
    assert bytes(payload(None)) == bytes(SEAL) + b"\x01\x00\x00\x00\xc0"
