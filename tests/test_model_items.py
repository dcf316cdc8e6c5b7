"""The model of sizes, with sums made by hand."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from mmcache_ref.model.component import Outcome
from mmcache_ref.model.items import (
    Array,
    CachedSize,
    CacheIfFits,
    Complexity,
    Config,
    Item,
    Items,
    Kept,
    Mapped,
    Plain,
    Sequence,
    Size,
    State,
    Tensor,
    step,
)

BYTES_3 = Tensor((3,))
EMPTY = Sequence()
IMAGE = Item((("pixels", Tensor((2, 3), "float32")), ("grid", Sequence((Tensor((3,), "int64"), EMPTY)))))
"""24 bytes of pixels and 24 of the grid."""


def ask(operation: Any) -> Outcome:
    return step(Config(), State(), operation)[1]


def size(value: Any) -> Any:
    return ask(Size(value)).result


@pytest.mark.clause("IT-13")
@pytest.mark.parametrize(
    ("tensor", "nbytes"),
    [
        (Tensor(()), 1),
        (Tensor((0, 9)), 0),
        (Tensor((2, 3, 4)), 24),
        (Tensor((5,), "bool"), 5),
        (Tensor((5,), "float16"), 10),
        (Tensor((5,), "bfloat16"), 10),
        (Tensor((5,), "float32"), 20),
        (Tensor((5,), "int64"), 40),
        (Tensor((5,), "int64", is_view=True), 40),
    ],
)
def test_a_tensor_weighs_its_elements(tensor: Tensor, nbytes: int) -> None:
    assert size(tensor) == nbytes
    assert ask(Size(tensor)).kind == "tensor"


@pytest.mark.clause("IT-19", "IT-21")
def test_an_array_weighs_what_such_a_tensor_does() -> None:
    assert size(Array((2, 3), "float32")) == size(Array((2, 3), "float32", is_view=True)) == 24
    assert ask(Size(Array((2, 3)))).kind == "array"


@pytest.mark.clause("IT-14")
@pytest.mark.parametrize("leaf", [7, 2.5, "token", None])
def test_another_leaf_weighs_what_python_says(leaf: Any) -> None:
    assert size(Plain(leaf)) == sys.getsizeof(leaf)
    assert ask(Size(Plain(leaf))).kind == "plain"


@pytest.mark.clause("IT-12")
def test_containers_weigh_what_is_in_them() -> None:
    assert size(Sequence((BYTES_3, Sequence((BYTES_3,), is_tuple=True)))) == 6
    assert size(Mapped((("key", BYTES_3), ("other", BYTES_3)))) == 6
    assert size(IMAGE) == 48
    assert size(Items((("image", (IMAGE, IMAGE)), ("audio", (Item((("wave", BYTES_3),)),))))) == 99
    assert ask(Size(Sequence((BYTES_3,)))).kind == "nested"


@pytest.mark.clause("IT-18")
@pytest.mark.parametrize(
    "empty", [EMPTY, Sequence(is_tuple=True), Mapped(), Item(), Items(), Items((("image", ()),))]
)
def test_nothing_weighs_nothing(empty: Any) -> None:
    outcome = ask(Size(empty))
    assert (outcome.result, outcome.kind) == (0, "no_leaves")


@pytest.mark.clause("IT-15")
def test_what_is_cached_of_an_item_weighs_what_it_weighs() -> None:
    assert ask(CachedSize(IMAGE)).result == 48
    assert ask(CachedSize(IMAGE, is_metadata=True)).result == 48


@pytest.mark.clause("IT-16")
@pytest.mark.parametrize(
    ("value", "count"),
    [
        (BYTES_3, 1),
        (EMPTY, 0),
        (Sequence((BYTES_3, Sequence((Plain(1), Plain(2))), Mapped((("a", Plain(None)),)))), 4),
        (IMAGE, 1),
        (Sequence((IMAGE, IMAGE), is_tuple=True), 2),
        (Items((("image", (IMAGE, IMAGE)),)), 1),
    ],
)
def test_complexity_counts_an_item_as_one(value: Any, count: int) -> None:
    assert ask(Complexity(value)).result == count


@pytest.mark.clause("IT-20")
@pytest.mark.parametrize("is_view", [False, True])
def test_a_cached_payload_keeps_its_own_bytes_alive(is_view: bool) -> None:
    assert ask(Kept(Tensor((4,), "int64", is_view), "receiver")).result == 32
    assert ask(Kept(Array((4,), "uint8", is_view), "processor-only")).result == 4
    nested = Sequence((Tensor((3,)), Sequence((Array((4,), "int64", is_view),))))
    assert ask(Kept(nested, "receiver")).result == 35


@pytest.mark.clause("IF-03")
def test_what_fits_the_whole_budget_is_stored() -> None:
    results = [step(Config(), State(), CacheIfFits(nbytes, 5))[1].result for nbytes in (0, 5, 6)]
    assert results == [(True, 0), (True, 5), (False, 0)]
