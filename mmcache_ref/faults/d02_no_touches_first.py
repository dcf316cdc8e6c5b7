"""The merge step touches each item only as it updates it.   [IF-10]

The check found the items a and c of a request cached. Two new items of the same request come first;
inserting them evicts a, which is the least recent key. Then a's turn comes, for which the request carries no
data: P0 fails with an assertion, and has recorded items that were never sent. Every hash has to be touched
before the first insertion, on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmcache_ref.reference import MultiModalKwargsItems
from mmcache_ref.reference.base import BaseMultiModalProcessorCache
from mmcache_ref.reference.merge import _inputs, _renumbered

from .fault import Fault


def merge_touching_late(
    cache: BaseMultiModalProcessorCache,
    mm_hashes: Mapping[str, Sequence[str]],
    mm_is_cached: Mapping[str, Sequence[bool]],
    mm_missing_kwargs: Mapping[str, Sequence[Any]],
    mm_missing_prompt_updates: Mapping[str, Sequence[Any]],
) -> Any:
    """Each hash is touched when its turn comes."""
    mm_items: dict[str, list[Any]] = {}
    mm_prompt_updates: dict[str, list[Any]] = {}
    inputs = {
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
        for modality, given in inputs.items():
            for index, (mm_input, mm_hash) in enumerate(zip(given, mm_hashes[modality], strict=True)):
                cache.touch_sender_cache_item(mm_hash)
                item, updates = cache.get_and_update_item(mm_input, mm_hash)
                mm_items.setdefault(modality, []).append(item)
                mm_prompt_updates.setdefault(modality, []).append(_renumbered(updates, index))
    finally:
        cache.release_sender_touches()
    return MultiModalKwargsItems(mm_items), mm_prompt_updates


FAULT = Fault(
    name="D02",
    title="a request's own insertions evict a member that the check had found",
    replaces="reference.merge:merge_mm_kwargs",
    rule=merge_touching_late,
    component="sender",
    clauses=("IF-10", "KR-13"),
    upstream=("#26195", "#28525"),
)
