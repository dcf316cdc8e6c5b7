"""Elements, items and collections of items; expected values are worked out by hand."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from mmcache_ref.reference.fields import (
    BaseMultiModalField,
    MultiModalBatchedField,
    MultiModalFieldConfig,
    MultiModalFieldElem,
    MultiModalFlatField,
    MultiModalSharedField,
)
from mmcache_ref.reference.items import MultiModalKwargsItem, MultiModalKwargsItems
from mmcache_ref.reference.tensors import batched_tensors_equal, nested_tensors_equal

BATCHED = MultiModalBatchedField()
NAN = float("nan")


def element(data: Any, field: BaseMultiModalField = BATCHED) -> MultiModalFieldElem:
    return MultiModalFieldElem(data, field)


def item(field: BaseMultiModalField = BATCHED, **data: Any) -> MultiModalKwargsItem:
    return MultiModalKwargsItem({key: element(value, field) for key, value in data.items()})


EQUAL = [
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])),
    (torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.bfloat16)),
    (torch.zeros(2, 3).t(), torch.zeros(3, 2)),
    (torch.tensor([]), torch.tensor([])),
    (np.array([1, 2]), np.array([1, 2])),
    ([1, [2.5, torch.tensor(3)], None], [1, [2.5, torch.tensor(3)], None]),
    ((torch.tensor([1, 2]), 1), (torch.tensor([1, 2]), 1)),
    ({"a": torch.tensor([1, 2])}, {"a": torch.tensor([1, 2])}),
    (None, None),
    (7, 7),
    ([], []),
]
DIFFERENT = [
    (torch.tensor([1, 2]), torch.tensor([1, 3])),
    (torch.tensor([1]), torch.tensor([1.0])),
    (torch.tensor([1]), torch.tensor([[1]])),
    (torch.tensor([1]), torch.tensor([1, 1])),
    (torch.tensor([NAN]), torch.tensor([NAN])),
    (torch.tensor(1), 1),
    (torch.tensor([1]), np.array([1])),
    (torch.tensor([[1], [2]]), [torch.tensor([1]), torch.tensor([2])]),
    (np.array([1, 2]), np.array([1, 3])),
    (np.array([1]), np.array([1.0])),
    (np.array([1]), np.array([[1]])),
    (np.array([1, 2]), [1, 2]),
    ([1, 2], (1, 2)),
    ([1], [1, 2]),
    ([torch.tensor([1, 2])], [torch.tensor([1, 3])]),
    ({"a": torch.tensor([1, 2])}, {"a": torch.tensor([1, 3])}),
    ({"a": 1}, {"b": 1}),
    (None, 0),
    (None, torch.tensor(0)),
    (None, []),
    (1, 2),
]


@pytest.mark.clause("IT-01")
@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal_data_makes_equal_elements(a: Any, b: Any) -> None:
    assert nested_tensors_equal(a, b) is True
    assert (element(a) == element(b)) is True


@pytest.mark.clause("IT-01")
@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_data_makes_different_elements(a: Any, b: Any) -> None:
    assert nested_tensors_equal(a, b) is False
    assert nested_tensors_equal(b, a) is False
    assert (element(a) != element(b)) is True


@pytest.mark.clause("IT-01")
def test_the_type_of_the_field_counts_and_its_parameters_do_not() -> None:
    two, three = MultiModalSharedField(batch_size=2), MultiModalSharedField(batch_size=3)
    assert element(1, two) == element(1, three)
    assert element(1, two) != element(1, BATCHED)
    assert element(1, MultiModalBatchedField(keep_on_cpu=True)) == element(1)
    assert element(1) != 1


@pytest.mark.clause("IT-01")
def test_dtypes_are_ignored_on_demand() -> None:
    ints, floats = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    assert nested_tensors_equal([ints], [floats], check_dtype=False)
    assert not nested_tensors_equal([ints], [floats + 1], check_dtype=False)
    assert not nested_tensors_equal(torch.tensor([1, 1]), torch.tensor([1.0]), check_dtype=False)
    assert nested_tensors_equal(ints.numpy(), floats.numpy(), check_dtype=False)


@pytest.mark.clause("IT-01")
def test_batches_are_equal_when_keys_and_data_are() -> None:
    assert batched_tensors_equal({"a": torch.tensor([1, 2])}, {"a": torch.tensor([1, 2])})
    assert not batched_tensors_equal({"a": 1}, {"a": 2})
    assert not batched_tensors_equal({"a": 1}, {})


@pytest.mark.clause("IT-06")
def test_an_item_maps_keys_to_elements_and_get_data_to_their_data() -> None:
    pixels = torch.tensor([1.0])
    one = item(pixels=pixels, note=None)
    assert one["note"] == element(None)
    assert list(one) == ["pixels", "note"]
    data = one.get_data()
    assert data == {"pixels": pixels, "note": None}
    assert data["pixels"] is pixels


@pytest.mark.clause("IT-01", "IT-06")
def test_items_are_equal_when_their_elements_are() -> None:
    assert item(a=torch.tensor([1, 2])) == item(a=torch.tensor([1, 2]))
    assert item(a=torch.tensor([1, 2])) != item(a=torch.tensor([1, 3]))


@pytest.mark.clause("IT-07")
@pytest.mark.parametrize("nbytes", [0, 1, 300])
def test_a_dummy_is_one_shared_uint8_tensor(nbytes: int) -> None:
    dummy = MultiModalKwargsItem.dummy(nbytes)
    assert list(dummy) == ["dummy"]
    assert dummy["dummy"].field == MultiModalSharedField(batch_size=1)
    assert isinstance(dummy["dummy"].data, torch.Tensor)
    assert dummy["dummy"].data.shape == (nbytes,)
    assert dummy["dummy"].data.dtype == torch.uint8


@pytest.mark.clause("IT-07")
def test_a_dummy_has_one_byte_by_default() -> None:
    assert MultiModalKwargsItem.dummy()["dummy"].data.shape == (1,)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import numpy as np
from mmcache_ref.reference.items import MultiModalKwargsItem, MultiModalKwargsItems
from mmcache_ref.reference.fields import MultiModalFieldConfig
from mmcache_ref.reference.sizes import MultiModalCache
from mmcache_ref.reference.tensors import detached
dummy = MultiModalKwargsItem.dummy(300)
assert type(dummy["dummy"].data) is np.ndarray and dummy["dummy"].data.dtype == np.uint8
assert MultiModalCache.get_item_size(dummy) == 300
items = MultiModalKwargsItems.from_hf_inputs(
    {"a": np.ones((2, 3), np.float32)}, {"a": MultiModalFieldConfig.batched("image")}
)
assert MultiModalCache.get_item_size(items) == 24
batch = items.get_data()["a"]
assert type(batch) is np.ndarray and batch.shape == (2, 3) and batch.dtype == np.float32
kept = detached(items["image"][0])
assert kept == items["image"][0] and kept["a"].data.base is None
"""

TORCH_STAYS_OUT = """
import sys
from mmcache_ref.reference.items import MultiModalKwargsItem, MultiModalKwargsItems
from mmcache_ref.reference.fields import MultiModalFieldElem, MultiModalBatchedField
from mmcache_ref.reference.sizes import MultiModalCache
import numpy as np
one = MultiModalKwargsItem({"a": MultiModalFieldElem(np.zeros(3), MultiModalBatchedField())})
assert MultiModalCache.get_item_size(one) == 24 and one == one.copy()
assert MultiModalKwargsItems({"image": [one, one]}).get_data()["a"].shape == (2, 3)
assert "torch" not in sys.modules
"""


@pytest.mark.clause("IT-07", "IT-12", "IT-20")
@pytest.mark.parametrize("program", [WITHOUT_TORCH, TORCH_STAYS_OUT], ids=["not installed", "not imported"])
def test_arrays_need_no_torch(program: str) -> None:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.clause("IT-08")
def test_get_data_reduces_the_items_of_each_modality() -> None:
    items = MultiModalKwargsItems(
        {
            "video": [],
            "image": [
                item(a=torch.tensor([1]), b=torch.tensor([1])),
                item(b=torch.tensor([2, 3]), a=torch.tensor([2])),
            ],
            "audio": [item(c=1)],
        }
    )
    data = items.get_data()
    expected = {"a": torch.tensor([[1], [2]]), "b": [torch.tensor([1]), torch.tensor([2, 3])], "c": [1]}
    assert batched_tensors_equal(data, expected)


@pytest.mark.clause("IT-08")
def test_the_later_modality_wins_a_key_that_two_have() -> None:
    items = MultiModalKwargsItems({"image": [item(a=1)], "audio": [item(a=7), item(a=8)]})
    assert items.get_data() == {"a": [7, 8]}


@pytest.mark.clause("IT-08")
def test_get_data_moves_tensors_to_the_device() -> None:
    items = MultiModalKwargsItems({"image": [item(a=torch.tensor([1]), n=3)]})
    data = items.get_data(device="meta")
    assert data["a"].device.type == "meta"
    assert data["n"] == [3]


SHARED = MultiModalSharedField(batch_size=2)


@pytest.mark.clause("IT-08")
@pytest.mark.parametrize(
    "items",
    [
        [item(a=1, b=1), item(a=2)],
        [item(a=1), item(a=2, b=1)],
        [item(), item(a=1)],
        [item(SHARED, a=1), item(a=1)],
        [item(SHARED, a=torch.tensor([1, 2])), item(SHARED, a=torch.tensor([1, 3]))],
        [item(SHARED, a=1), item(SHARED, a=1), item(SHARED, a=2)],
    ],
    ids=["key missing", "key added", "no keys", "other field", "other shared data", "third differs"],
)
def test_items_that_form_no_batch_are_refused(items: list[MultiModalKwargsItem]) -> None:
    with pytest.raises(RuntimeError, match="'image' cannot form one batch"):
        MultiModalKwargsItems({"image": items}).get_data()


@pytest.mark.clause("IT-05", "IT-08")
def test_equal_shared_data_is_reduced_to_itself() -> None:
    items = [item(SHARED, a=np.array([1, 2])), item(SHARED, a=np.array([1, 2]))]
    data = MultiModalKwargsItems({"image": items}).get_data()
    assert batched_tensors_equal(data, {"a": np.array([1, 2])})


@pytest.mark.clause("IT-08")
def test_require_data_returns_the_very_collection() -> None:
    items = MultiModalKwargsItems({"image": [item(a=1)], "video": []})
    assert items.require_data() is items


@pytest.mark.clause("IT-08")
def test_an_item_without_data_is_named() -> None:
    items = MultiModalKwargsItems({"audio": [item(a=1)], "image": [item(a=1), None]})
    with pytest.raises(RuntimeError, match="item 1 of 'image'"):
        items.require_data()
    with pytest.raises(RuntimeError, match="item 1 of 'image'"):
        items.get_data()


@pytest.mark.clause("IT-08")
def test_an_unknown_modality_is_a_key_error_that_names_the_known_ones() -> None:
    items = MultiModalKwargsItems({"image": [item(a=1)], "audio": [item(a=1)]})
    with pytest.raises(KeyError, match=r"'video'.*'image', 'audio'"):
        items["video"]
    with pytest.raises(KeyError, match="none"):
        MultiModalKwargsItems({})["video"]
    assert items.get("video") is None


@pytest.mark.clause("IT-03", "IT-04", "IT-05")
def test_processor_output_is_cut_into_items() -> None:
    items = MultiModalKwargsItems.from_hf_inputs(
        {
            "pixels": torch.tensor([[1, 2], [3, 4]]),
            "patches": torch.tensor([5, 6, 7]),
            "grid": torch.tensor([9]),
            "clips": [1, 2, 3],
            "nothing": None,
            "empty": [],
            "unknown": 1,
        },
        {
            "pixels": MultiModalFieldConfig.batched("image"),
            "patches": MultiModalFieldConfig.flat_from_sizes("image", torch.tensor([1, 2])),
            "grid": MultiModalFieldConfig.shared("image", 2),
            "clips": MultiModalFieldConfig.batched("video"),
            "nothing": MultiModalFieldConfig.batched("image"),
            "empty": MultiModalFieldConfig.batched("image"),
            "absent": MultiModalFieldConfig.batched("image"),
        },
    )
    assert list(items) == ["image", "video"]
    assert [list(one) for one in items["image"]] == [["pixels", "patches", "grid"]] * 2
    second = {"pixels": torch.tensor([3, 4]), "patches": torch.tensor([6, 7]), "grid": torch.tensor([9])}
    assert batched_tensors_equal(items["image"][1].get_data(), second)
    assert isinstance(items["image"][1]["patches"].field, MultiModalFlatField)
    assert [one.get_data() for one in items["video"]] == [{"clips": 1}, {"clips": 2}, {"clips": 3}]


@pytest.mark.clause("IT-08")
def test_keys_of_one_modality_must_agree_on_the_number_of_items() -> None:
    batched = MultiModalFieldConfig.batched("image")
    with pytest.raises(ValueError, match=r"'image'.*'a': 2, 'b': 3"):
        MultiModalKwargsItems.from_hf_inputs({"a": [1, 2], "b": [1, 2, 3]}, {"a": batched, "b": batched})
