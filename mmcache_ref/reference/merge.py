"""The merge step of P0: one processed request through the cache, after the check.

The check was made, and the items that it found missing were processed; now every item of the
request is either sent with its data or known to be in P1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from .base import BaseMultiModalProcessorCache, MultiModalProcessorCacheInItem
from .features import ResolvedPromptUpdate
from .items import MultiModalKwargsItem, MultiModalKwargsItems

PromptUpdates = Mapping[str, Sequence[Sequence[ResolvedPromptUpdate]]]
"""Modality to the prompt updates of each item."""


def merge_mm_kwargs(
    cache: BaseMultiModalProcessorCache,
    mm_hashes: Mapping[str, Sequence[str]],
    mm_is_cached: Mapping[str, Sequence[bool]],
    mm_missing_kwargs: Mapping[str, Sequence[MultiModalKwargsItem]],
    mm_missing_prompt_updates: PromptUpdates,
) -> tuple[MultiModalKwargsItems[MultiModalKwargsItem | None], PromptUpdates]:
    """Touch every hash, update each item, end the touches.   [IF-10, IF-11, IF-12, DR-03]

    Args:
        mm_hashes: modality to the hash of each item; this order is the order of the request.
        mm_is_cached: modality to what the check said of each hash.
        mm_missing_kwargs: modality to the items of those hashes only that were not cached, in order.
        mm_missing_prompt_updates: modality to the prompt updates of those items.

    Returns:
        Modality to what is sent for each item (`None`: P1 has it), and to the prompt updates of each
        item, whose `item_idx` is its place in this request. A modality without items is left out.

    Raises:
        IndexError: an item is neither cached nor supplied (DR-02); nothing changes.
        KeyError: a modality is absent from `mm_is_cached`; nothing changes.
        AssertionError: an item that the check found cached has left the cache before the touches.
    """
    mm_inputs = {
        modality: _inputs(
            modality,
            hashes,
            mm_is_cached[modality],
            mm_missing_kwargs.get(modality, ()),
            mm_missing_prompt_updates.get(modality, ()),
        )
        for modality, hashes in mm_hashes.items()
    }
    try:
        for hashes in mm_hashes.values():
            for mm_hash in hashes:
                cache.touch_sender_cache_item(mm_hash)
        mm_outputs = {
            modality: [
                cache.get_and_update_item(mm_input, mm_hash)
                for mm_input, mm_hash in zip(inputs, mm_hashes[modality], strict=True)
            ]
            for modality, inputs in mm_inputs.items()
            if inputs
        }
    finally:
        cache.release_sender_touches()
    mm_items = {modality: [item for item, _ in outputs] for modality, outputs in mm_outputs.items()}
    mm_prompt_updates = {
        modality: [_renumbered(updates, index) for index, (_, updates) in enumerate(outputs)]
        for modality, outputs in mm_outputs.items()
    }
    return MultiModalKwargsItems(mm_items), mm_prompt_updates


def _inputs(
    modality: str,
    hashes: Sequence[str],
    is_cached: Sequence[bool],
    missing_items: Sequence[MultiModalKwargsItem],
    missing_updates: Sequence[Sequence[ResolvedPromptUpdate]],
) -> list[MultiModalProcessorCacheInItem]:
    """For each hash what its update is given: `None` or the next missing item.   [IF-11, IF-18, DR-02]"""
    missing = sum(not is_cached[index] for index in range(len(hashes)))
    if missing > min(len(missing_items), len(missing_updates)):
        raise IndexError(
            f"{missing} items of modality {modality!r} are not cached, but {len(missing_items)} items and "
            f"{len(missing_updates)} prompt updates were supplied: each missing item needs both"
        )
    supplied = zip(missing_items, missing_updates, strict=False)
    return [None if is_cached[index] else next(supplied) for index in range(len(hashes))]


def _renumbered(updates: Sequence[ResolvedPromptUpdate], index: int) -> list[ResolvedPromptUpdate]:
    """The prompt updates of an item for its place in this request, as copies.   [IF-12]"""
    return [dataclasses.replace(update, item_idx=index) for update in updates]
