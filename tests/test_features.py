"""Placeholder ranges, features and prompt updates; expected values are worked out by hand."""

import dataclasses
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from batched_items import item_of
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.reference.features import (
    MultiModalFeatureSpec,
    PlaceholderRange,
    ResolvedPromptUpdate,
    cache_key,
)
from mmcache_ref.reference.items import MultiModalKwargsItem

MASK = torch.tensor([False, True, True, False, True, False])
MASKED = PlaceholderRange(10, 6, MASK)
WHOLE = PlaceholderRange(10, 6)


def feature(data: MultiModalKwargsItem | None, mm_hash: str | None = None) -> MultiModalFeatureSpec:
    return MultiModalFeatureSpec(data, "image", "lora:h", WHOLE, mm_hash)


@pytest.mark.clause("IT-09")
def test_without_a_mask_every_token_is_an_embedding() -> None:
    assert PlaceholderRange(offset=10, length=6).is_embed is None
    assert WHOLE.get_num_embeds() == 6
    assert WHOLE.embeds_cumsum is None
    assert WHOLE.get_embeds_indices_in_range(2, 5) == (2, 5)
    assert WHOLE.extract_embeds_range() == [(10, 15)]


@pytest.mark.clause("IT-09")
@pytest.mark.parametrize("library", [torch.tensor, np.array], ids=["tensor", "array"])
@pytest.mark.parametrize(
    ("mask", "count", "runs"),
    [
        ([False, True, True, False, True, False], 3, [(11, 12), (14, 14)]),
        ([True, False, False, True, True, True], 4, [(10, 10), (13, 15)]),
        ([True] * 6, 6, [(10, 15)]),
        ([False] * 6, 0, []),
        ([], 0, []),
    ],
)
def test_with_a_mask_its_true_positions_are_embeddings(
    library: Any, mask: list[bool], count: int, runs: list[tuple[int, int]]
) -> None:
    place = PlaceholderRange(10, len(mask), library(mask, dtype=bool))
    assert place.get_num_embeds() == count
    assert place.extract_embeds_range() == runs


@pytest.mark.clause("IT-09")
def test_a_mask_of_numbers_counts_those_that_are_not_zero() -> None:
    assert PlaceholderRange(0, 3, torch.tensor([2, 0, 1])).embeds_cumsum == [1, 1, 2]


@pytest.mark.clause("IT-09")
@pytest.mark.parametrize(
    ("tokens", "embeddings"),
    [
        ((0, 6), (0, 3)),
        ((0, 0), (0, 0)),
        ((1, 3), (0, 2)),
        ((2, 4), (1, 2)),
        ((3, 4), (2, 2)),
        ((5, 6), (3, 3)),
    ],
)
def test_a_range_of_tokens_has_a_range_of_embeddings(tokens: Any, embeddings: Any) -> None:
    assert MASKED.get_embeds_indices_in_range(*tokens) == embeddings


@pytest.mark.clause("IT-09")
def test_tokens_beyond_the_mask_are_refused() -> None:
    with pytest.raises(IndexError):
        MASKED.get_embeds_indices_in_range(0, 7)


@pytest.mark.clause("IT-09")
def test_a_mask_has_one_dimension() -> None:
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        PlaceholderRange(0, 2, torch.tensor([[True, False]])).get_num_embeds()


@pytest.mark.clause("IT-09")
@given(mask=st.lists(st.booleans(), max_size=12), offset=st.integers(0, 5))
def test_runs_cover_exactly_the_true_positions(mask: list[bool], offset: int) -> None:
    place = PlaceholderRange(offset, len(mask), torch.tensor(mask, dtype=torch.bool))
    runs = place.extract_embeds_range()
    covered = [position for first, last in runs for position in range(first, last + 1)]
    assert covered == [offset + index for index, is_true in enumerate(mask) if is_true]
    assert all(after - before > 1 for (_, before), (after, _) in itertools.pairwise(runs))


@pytest.mark.clause("IT-09")
def test_ranges_are_equal_by_value_and_then_have_one_hash() -> None:
    same = PlaceholderRange(10, 6, MASK.clone())
    assert same == MASKED
    assert hash(same) == hash(MASKED)
    assert len({same, MASKED, WHOLE, PlaceholderRange(10, 6)}) == 2
    assert pickle.loads(pickle.dumps(MASKED)) == MASKED
    others = [
        WHOLE,
        PlaceholderRange(10, 6, ~MASK),
        PlaceholderRange(9, 6, MASK),
        PlaceholderRange(10, 7, MASK),
        PlaceholderRange(10, 6, MASK.long()),
        (10, 6, MASK),
    ]
    assert not any(other == MASKED for other in others)


@pytest.mark.clause("IT-09")
def test_ranges_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        WHOLE.offset = 3  # type: ignore[misc]


@pytest.mark.clause("IT-10")
def test_the_cache_key_is_the_hash_or_else_the_identifier() -> None:
    assert cache_key(feature(None, "h")) == "h"
    assert cache_key(feature(None)) == "lora:h"
    assert cache_key(feature(None, "")) == "lora:h"


@pytest.mark.clause("IT-10")
def test_a_feature_without_hash_or_data_is_legal_and_compares_by_value() -> None:
    assert feature(None) == MultiModalFeatureSpec(
        data=None, modality="image", identifier="lora:h", mm_position=PlaceholderRange(10, 6)
    )
    assert feature(item_of(a=torch.tensor([1, 2]))) == feature(item_of(a=torch.tensor([1, 2])))
    assert feature(item_of(a=torch.tensor([1, 2]))) != feature(item_of(a=torch.tensor([1, 3])))


@pytest.mark.clause("IT-06")
def test_keywords_are_gathered_from_the_features_that_have_them() -> None:
    features = [feature(item_of(a=1, b=2)), feature(None), feature(item_of(b=3, c=None))]
    assert MultiModalFeatureSpec.gather_kwargs(features, {"a", "b", "c", "d"}) == {
        "a": [1],
        "b": [2, 3],
        "c": [None],
    }
    assert MultiModalFeatureSpec.gather_kwargs(features, {"b"}) == {"b": [2, 3]}
    assert MultiModalFeatureSpec.gather_kwargs([], {"b"}) == {}


@pytest.mark.clause("IF-12")
def test_prompt_updates_are_frozen_and_can_be_renumbered() -> None:
    update = ResolvedPromptUpdate("image", 0, "replace", "<image>", [1, 2])
    later = dataclasses.replace(update, item_idx=3)
    assert later == ResolvedPromptUpdate("image", 3, "replace", "<image>", [1, 2])
    with pytest.raises(dataclasses.FrozenInstanceError):
        update.item_idx = 1  # type: ignore[misc]
