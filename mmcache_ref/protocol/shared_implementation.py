"""What the protocol needs of an implementation of the shared-memory caches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .implementation import Merge


@dataclass(frozen=True)
class SharedImplementation:
    """A sender, its receivers, and the functions around them.

    Attributes:
        workers: how many workers read.
        make_sender: makes P0's cache, with an empty segment.
        make_receiver: makes the cache of a worker, by its number; the sender is there by then.
        merge: the merge step (IF-10 to IF-12).
        make_feature: from item or None, modality, mm_hash and place in the request to a feature.
        process: from raw data, modality and place among the processed items to an item and its prompt
            updates.
        size: from raw data to the bytes of the item that is made of it.
    """

    workers: int
    make_sender: Callable[[], Any]
    make_receiver: Callable[[int], Any]
    merge: Merge
    make_feature: Callable[[Any, str, str, int], Any]
    process: Callable[[Any, str, int], tuple[Any, Sequence[Any]]]
    size: Callable[[Any], int]
