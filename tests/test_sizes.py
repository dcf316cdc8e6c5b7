"""What values weigh; weights are added up by hand."""

import collections
import logging
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from batched_items import item_of
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.reference.fields import MultiModalBatchedField, MultiModalFieldElem
from mmcache_ref.reference.items import MultiModalKwargsItem, MultiModalKwargsItems
from mmcache_ref.reference.sizes import (
    MultiModalCache,
    MultiModalProcessorCacheItem,
    MultiModalProcessorCacheItemMetadata,
)

size = MultiModalCache.get_item_size
complexity = MultiModalCache.get_item_complexity
Point = collections.namedtuple("Point", "x y")


def floats(count: int) -> torch.Tensor:
    """A tensor of `count` times 4 bytes."""
    return torch.zeros(count)


@pytest.mark.clause("IT-13")
@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.zeros(2, 3), 24),
        (torch.zeros(2, 3, dtype=torch.bfloat16), 12),
        (torch.zeros(2, 3, dtype=torch.bool), 6),
        (torch.tensor(1.0), 4),
        (torch.zeros(0, 3), 0),
        (torch.zeros(100)[:5], 20),
        (torch.zeros(4, 6).t(), 96),
        (torch.zeros(1).expand(10), 40),
        (torch.eye(3).to_sparse(), 36),
        (torch.nn.Parameter(torch.zeros(3)), 12),
        (torch.empty(3, device="meta"), 12),
    ],
)
def test_a_tensor_weighs_its_elements(tensor: torch.Tensor, expected: int) -> None:
    assert size(tensor) == MultiModalCache.get_leaf_size(tensor) == expected


@pytest.mark.clause("IT-19")
@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros((2, 3)), 48),
        (np.zeros((2, 3), np.float16), 12),
        (np.zeros(100)[:5], 40),
        (np.zeros((4, 6)).T, 192),
        (np.array(1.0), 8),
        (np.frombuffer(bytes(40), np.uint8, 10), 10),
        (np.broadcast_to(np.zeros(1), 10), 80),
    ],
)
def test_an_array_weighs_its_elements_whether_owner_or_view(array: Any, expected: int) -> None:
    assert size(array) == MultiModalCache.get_leaf_size(array) == expected


class Opaque:
    data = floats(9)


OTHER_LEAVES = [
    0,
    2**100,
    1.5,
    True,
    None,
    "text",
    b"bytes",
    {1, 2},
    np.float32(1),
    Opaque(),
    collections.UserDict(a=1),
    collections.deque([1]),
]


@pytest.mark.clause("IT-14", "IT-16")
@pytest.mark.parametrize("leaf", OTHER_LEAVES)
def test_any_other_leaf_weighs_what_getsizeof_says(leaf: object) -> None:
    assert size(leaf) == MultiModalCache.get_leaf_size(leaf) == sys.getsizeof(leaf)
    assert complexity(leaf) == 1


NESTED = [
    ([floats(1), [floats(2), (floats(3),)]], 24, 3),
    ({"a": floats(1), "long key": {"b": floats(2)}}, 12, 2),
    (collections.OrderedDict(a=floats(1)), 4, 1),
    (Point(floats(1), floats(2)), 12, 2),
    (MultiModalFieldElem([floats(1), floats(2)], MultiModalBatchedField()), 12, 1),
    (item_of(a=floats(1), b=[floats(2), floats(3)]), 24, 1),
    (
        MultiModalKwargsItems(
            {"image": [item_of(a=floats(1)), item_of(a=floats(2))], "audio": [item_of(b=floats(3))]}
        ),
        24,
        1,
    ),
    ([item_of(a=floats(1)), {"x": item_of(a=floats(2))}], 12, 2),
]


@pytest.mark.clause("IT-12", "IT-16")
@pytest.mark.parametrize(("value", "expected", "parts"), NESTED)
def test_a_value_weighs_the_sum_of_its_leaves(value: object, expected: int, parts: int) -> None:
    assert size(value) == expected
    assert complexity(value) == parts


@pytest.mark.clause("IT-12", "IT-14")
def test_none_and_numbers_in_an_item_are_leaves() -> None:
    value = MultiModalKwargsItems({"image": [item_of(a=floats(1), b=[1, None]), None]})
    assert size(value) == 4 + sys.getsizeof(1) + 2 * sys.getsizeof(None)


@pytest.mark.clause("IT-18")
@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        (),
        [[], {}],
        item_of(),
        item_of(a=[]),
        MultiModalKwargsItems({}),
        MultiModalKwargsItems({"image": []}),
    ],
)
def test_a_value_without_leaves_weighs_nothing(value: object) -> None:
    assert size(value) == 0


@pytest.mark.clause("IT-15")
def test_what_a_processor_cache_keeps_weighs_its_item() -> None:
    one = item_of(a=floats(5), b=[floats(1)])
    updates: Any = [list(range(1000))]
    kept, metadata = (
        MultiModalProcessorCacheItem(one, updates),
        MultiModalProcessorCacheItemMetadata(one, updates),
    )
    assert size(kept) == 24
    assert size(metadata) == MultiModalCache.get_leaf_size(metadata) == metadata.item_size == 24
    assert size([kept, metadata]) == 48
    assert kept.item is one
    assert kept.prompt_updates is metadata.prompt_updates is updates


@pytest.mark.clause("IT-15")
def test_metadata_weighs_what_the_item_weighed_when_it_was_made() -> None:
    one = item_of(a=floats(5))
    metadata = MultiModalProcessorCacheItemMetadata(one, [])
    one["b"] = MultiModalFieldElem(floats(5), MultiModalBatchedField())
    assert size(metadata) == 20
    assert not hasattr(metadata, "item")


@pytest.mark.clause("IT-15", "IT-18")
def test_metadata_of_an_item_without_leaves_weighs_nothing() -> None:
    assert size(MultiModalProcessorCacheItemMetadata(item_of(), [])) == 0


class LookAlikeElement:
    __slots__ = ("data", "field")

    def __init__(self, data: object) -> None:
        self.data, self.field = data, None


class LookAlikeItem(collections.UserDict[str, Any]):
    def get_data(self) -> dict[str, Any]:
        return {}


@pytest.mark.clause("IT-12", "IT-15")
def test_items_of_another_package_weigh_the_same() -> None:
    foreign = LookAlikeItem(a=LookAlikeElement(floats(2)), b=LookAlikeElement([floats(1), np.zeros(1)]))
    assert size(foreign) == 8 + 4 + 8
    assert size(LookAlikeItem(image=[foreign, None])) == 20 + sys.getsizeof(None)
    assert size(SimpleNamespace(item=foreign, prompt_updates=[1])) == 20
    assert size(SimpleNamespace(item_size=20, prompt_updates=[1])) == 20


dtypes = st.sampled_from([np.bool_, np.uint8, np.int32, np.float16, np.float64])
shapes = st.lists(st.integers(0, 4), max_size=3)
arrays = st.builds(lambda shape, dtype: np.zeros(shape, dtype), shapes, dtypes)
payloads = st.recursive(arrays, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner))


def as_tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    return type(value)(map(as_tensors, value))


@pytest.mark.clause("IT-19", "IT-21")
@given(data=payloads)
def test_tensors_and_arrays_weigh_the_same(data: Any) -> None:
    assert size(item_of(a=data)) == size(item_of(a=as_tensors(data)))


@pytest.mark.clause("IT-17")
@pytest.mark.parametrize(("capacity_gb", "maxsize"), [(4, 4 * 2**30), (0.5, 2**29), (24 / 2**30, 24), (0, 0)])
def test_an_lru_has_a_budget_in_gibibytes(capacity_gb: float, maxsize: int) -> None:
    cache = MultiModalCache.get_lru_cache(capacity_gb, MultiModalKwargsItem)
    assert cache.maxsize == maxsize
    assert len(cache) == cache.currsize == 0


@pytest.mark.clause("IT-17", "IT-12")
def test_the_lru_weighs_its_values() -> None:
    cache = MultiModalCache.get_lru_cache(24 / 2**30, MultiModalKwargsItem)
    cache["a"] = item_of(a=floats(4))
    cache["b"] = item_of(a=floats(2))
    assert cache.currsize == 24
    cache["c"] = item_of(a=floats(1))
    assert list(cache) == ["b", "c"]


@pytest.mark.clause("IT-12")
def test_sizes_are_logged_on_demand(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="mmcache_ref"):
        assert size([floats(2), floats(1)]) == 12
        assert caplog.messages == []
        assert size([floats(2), floats(1)], debug=True) == 12
    assert caplog.messages == ["list weighs 12 bytes, complexity 2"]
