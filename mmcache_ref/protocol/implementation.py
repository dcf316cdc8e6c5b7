"""What the protocol needs of an implementation of the caches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Merge = Callable[
    [
        Any,
        Mapping[str, Sequence[str]],
        Mapping[str, Sequence[bool]],
        Mapping[str, Sequence[Any]],
        Mapping[str, Sequence[Any]],
    ],
    tuple[Mapping[str, Sequence[Any]], Mapping[str, Sequence[Any]]],
]
"""As `merge_mm_kwargs`: cache, hashes, what the check said, missing items and their prompt updates, each by
group; returns what is sent for each item, and its prompt updates."""


@dataclass(frozen=True)
class Implementation:
    """A pair of caches, and the functions around them.

    Attributes:
        make_sender: makes an empty cache for P0.
        make_receiver: makes an empty cache for P1.
        merge: the merge step (IF-10 to IF-12).
        make_feature: from item or None, modality, mm_hash and place in the request to a feature.
        process: from raw data, modality and place among the processed items of its group to an item and its
            prompt updates.
        size: bytes of an item.
    """

    make_sender: Callable[[], Any]
    make_receiver: Callable[[], Any]
    merge: Merge
    make_feature: Callable[[Any, str, str, int], Any]
    process: Callable[[Any, str, int], tuple[Any, Sequence[Any]]]
    size: Callable[[Any], int]
