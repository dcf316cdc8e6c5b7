"""Features: the items of one request as they travel to P1, and where they sit in the prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

from .items import MultiModalKwargsItem
from .tensors import NestedTensors, Tensor, nested_tensors_equal


@dataclass(frozen=True)
class PlaceholderRange:
    """The `length` prompt tokens from `offset` on that stand for one item.   [IT-09]

    `is_embed`, a one-dimensional boolean tensor or array of `length` entries, says which of them are replaced
    by an embedding; `None` means all.
    """

    offset: int
    length: int
    is_embed: Tensor | None = None

    @cached_property
    def embeds_cumsum(self) -> list[int] | None:
        """Number of embeddings up to and with each token; `None` when all are.   [IT-09]

        Raises `ValueError` when `is_embed` has not one dimension.
        """
        if self.is_embed is None:
            return None
        if self.is_embed.ndim != 1:
            raise ValueError(
                f"is_embed must have one dimension, but its shape is {tuple(self.is_embed.shape)}"
            )
        return list(accumulate(1 if is_true else 0 for is_true in self.is_embed.tolist()))

    def get_num_embeds(self) -> int:
        """Number of embeddings.   [IT-09]"""
        if self.embeds_cumsum is None:
            return self.length
        return self.embeds_cumsum[-1] if self.embeds_cumsum else 0

    def get_embeds_indices_in_range(self, start_idx: int, end_idx: int) -> tuple[int, int]:
        """Which embeddings, from-to, belong to the tokens `start_idx` up to `end_idx` (excluded).   [IT-09]

        Token indices count from the start of the range. Raises `IndexError` beyond its end.
        """
        counts = self.embeds_cumsum
        if counts is None:
            return start_idx, end_idx
        return _count_before(counts, start_idx), _count_before(counts, end_idx)

    def extract_embeds_range(self) -> list[tuple[int, int]]:
        """First and last prompt position of each run of tokens with an embedding.   [IT-09]"""
        counts = self.embeds_cumsum
        if counts is None:
            return [(self.offset, self.offset + self.length - 1)]
        runs: list[tuple[int, int]] = []
        for position, (before, now) in enumerate(zip([0, *counts], counts, strict=False), self.offset):
            if now == before:
                continue
            if runs and runs[-1][1] == position - 1:
                runs[-1] = (runs[-1][0], position)
            else:
                runs.append((position, position))
        return runs

    def __eq__(self, other: object) -> bool:
        """Same tokens and equal `is_embed`, by value, shape and dtype.   [IT-09]"""
        if not isinstance(other, PlaceholderRange):
            return NotImplemented
        return (self.offset, self.length) == (other.offset, other.length) and nested_tensors_equal(
            self.is_embed, other.is_embed
        )

    def __hash__(self) -> int:
        """Equal ranges have equal hashes: `is_embed` does not take part."""
        return hash((self.offset, self.length))


def _count_before(counts: Sequence[int], index: int) -> int:
    """Number of embeddings before the token `index`."""
    return counts[index - 1] if index > 0 else 0


@dataclass
class MultiModalFeatureSpec:
    """One item of one request, as P1 receives it.   [IT-10]

    `data` is `None` where P0 believes that P1 has the item. `identifier` may carry a prefix for an adapter of
    the model, `mm_hash` never does.
    """

    data: MultiModalKwargsItem | None
    modality: str
    identifier: str
    mm_position: PlaceholderRange
    mm_hash: str | None = None

    @staticmethod
    def gather_kwargs(
        features: Iterable[MultiModalFeatureSpec], keys: Collection[str]
    ) -> dict[str, list[NestedTensors]]:
        """Keyword to its data in each item that has it, in order of the features.

        Only those of `keys` that some item has are there. Features without data are passed over.
        """
        gathered: dict[str, list[NestedTensors]] = {}
        for feature in features:
            for key, element in (feature.data or {}).items():
                if key in keys:
                    gathered.setdefault(key, []).append(element.data)
        return gathered


class _Identified(Protocol):
    """What a feature of any package has to offer to have a cache key."""

    identifier: str
    mm_hash: str | None


def cache_key(feature: _Identified) -> str:
    """The key of the feature's item in the caches.   [IT-10]"""
    return feature.mm_hash or feature.identifier


@dataclass(frozen=True)
class ResolvedPromptUpdate:
    """One change to the prompt that belongs to an item: the caches keep it and do not look into it.

    `item_idx` is the item's place among those of its modality in the request; the same update is
    renumbered with `dataclasses.replace` for the next request.
    """

    modality: str
    item_idx: int
    mode: str
    target: Any
    content: Any = field(repr=False)
