"""What a cache keeps of a value keeps no more memory alive than the value weighs."""

import collections
import gc
import io
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from batched_items import item_of

from mmcache_ref.reference.items import MultiModalKwargsItem
from mmcache_ref.reference.sizes import MultiModalCache, MultiModalProcessorCacheItem
from mmcache_ref.reference.tensors import detached, nested_tensors_equal

size = MultiModalCache.get_item_size
Point = collections.namedtuple("Point", "x y")


def floats(count: int) -> torch.Tensor:
    """A tensor of `count` times 4 bytes."""
    return torch.zeros(count)


OWNERS = [
    floats(3),
    floats(4).reshape(2, 2),
    floats(6).reshape(2, 3).t(),
    floats(1).expand(5),
    torch.zeros(0),
    torch.nn.Parameter(floats(3)),
    torch.eye(2).to_sparse(),
    np.zeros(4),
    np.arange(6).reshape(2, 3),
    np.broadcast_to(np.zeros(1), 5),
    7,
    None,
    "text",
]


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("leaf", OWNERS)
def test_what_owns_just_its_bytes_is_kept_as_it_is(leaf: object) -> None:
    nested = {"a": [leaf, (leaf, 1)]}
    one = item_of(a=nested, b=leaf)
    kept = MultiModalProcessorCacheItem(one, [])
    for value in (leaf, nested, one, kept):
        assert detached(value) is value


VIEWS = [
    floats(100)[:3],
    floats(100)[:0],
    torch.arange(12).reshape(3, 4).t()[:, 0],
    floats(100)[:2].expand(3, 2),
    torch.from_numpy(np.arange(100)[2:5]),
    torch.frombuffer(bytearray(100), dtype=torch.uint8, count=5, offset=7),
    torch.zeros(100, dtype=torch.bfloat16)[1:2],
    np.arange(100)[:3],
    np.arange(12).reshape(3, 4).T[:, 0],
    np.frombuffer(bytes(100), np.uint8, 5, 7),
    np.frombuffer(bytes(100), np.uint8, 5, 7)[::-1],
    np.arange(100)[2:3].view(np.uint8),
]


def memory_of(payload: Any) -> int:
    """Bytes of the storage that a payload keeps alive."""
    if isinstance(payload, torch.Tensor):
        return payload.untyped_storage().nbytes()
    return int(payload.nbytes if payload.base is None else payload.base.nbytes)


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_copied_to_just_its_bytes(view: Any) -> None:
    copy = detached(view)
    assert copy is not view
    assert nested_tensors_equal(copy, view)
    assert memory_of(copy) == size(view)
    assert detached(copy) is copy


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("make", [lambda: np.zeros(1000), lambda: memoryview(bytearray(1000))])
@pytest.mark.parametrize("wrap", [torch.as_tensor, np.asarray])
def test_memory_from_outside_is_let_go(make: Any, wrap: Any) -> None:
    base = np.asarray(make())
    alive = weakref.ref(base)
    kept = detached([wrap(base[5:7])])
    del base
    gc.collect()
    assert alive() is None
    assert size(kept) == 2 * kept[0].dtype.itemsize


@pytest.mark.clause("IT-20")
def test_a_file_under_an_array_is_let_go(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(5))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    kept = detached(mapped)
    assert kept.base is None
    assert nested_tensors_equal(np.asarray(kept), np.arange(5))


@pytest.mark.clause("IT-20")
def test_a_tensor_loaded_as_a_view_is_copied() -> None:
    file = io.BytesIO()
    torch.save(floats(100)[:2], file)
    file.seek(0)
    assert memory_of(detached(torch.load(file))) == 8


@pytest.mark.clause("IT-20")
def test_an_autograd_graph_is_let_go() -> None:
    weights = torch.ones(3, requires_grad=True)
    result = weights * 2
    kept = detached(result)
    assert kept.grad_fn is None
    assert nested_tensors_equal(kept, torch.tensor([2.0, 2.0, 2.0]))
    result.sum().backward()
    assert weights.grad is not None
    assert detached(weights).grad is None


@pytest.mark.clause("IT-20")
def test_only_what_surrounds_a_copy_is_made_anew() -> None:
    whole = [floats(1)]
    data = {"view": [floats(100)[:1]], "whole": whole, "point": Point(floats(100)[:1], whole)}
    one = item_of(a=data, b=whole)
    one.note = "kept"  # type: ignore[attr-defined]
    kept = detached(MultiModalProcessorCacheItem(one, ["update"]))  # type: ignore[list-item]
    assert type(kept) is MultiModalProcessorCacheItem
    assert kept.prompt_updates == ["update"]
    assert type(kept.item) is MultiModalKwargsItem
    assert kept.item == one
    assert kept.item.note == "kept"
    assert list(kept.item["a"].data) == ["view", "whole", "point"]
    assert kept.item["a"].data["whole"] is whole
    assert kept.item["b"] is one["b"]
    assert type(kept.item["a"].data["point"]) is Point
    assert kept.item["a"].field is one["a"].field
    leaves = [kept.item["a"].data["view"][0], kept.item["a"].data["point"].x]
    assert [memory_of(leaf) for leaf in leaves] == [4, 4]
    assert memory_of(one["a"].data["view"][0]) == 400


class LookAlikeElement:
    __slots__ = ("data", "field")

    def __init__(self, data: object) -> None:
        self.data, self.field = data, None


class LookAlikeItem(collections.UserDict[str, Any]):
    def get_data(self) -> dict[str, Any]:
        return {}


@pytest.mark.clause("IT-20")
def test_items_of_another_package_keep_their_types() -> None:
    foreign = LookAlikeItem(a=LookAlikeElement(collections.OrderedDict(x=floats(100)[:1])))
    kept = detached(foreign)
    assert (type(kept), type(kept["a"]), type(kept["a"].data)) == (
        LookAlikeItem,
        LookAlikeElement,
        collections.OrderedDict,
    )
    assert memory_of(kept["a"].data["x"]) == 4
    assert memory_of(foreign["a"].data["x"]) == 400
