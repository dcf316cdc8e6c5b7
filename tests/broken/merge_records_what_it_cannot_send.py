"""A merge step that lacks an item updates those before it all the same.   [IF-18]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-18",), longest=1, level=1)


def merge_mm_kwargs(cache: Any, hashes: Any, is_cached: Any, items: Any, updates: Any) -> Any:
    supplied = {
        modality: min(len(items.get(modality, ())), len(updates.get(modality, ()))) for modality in hashes
    }
    missing = {modality: is_cached[modality].count(False) for modality in hashes}
    if missing != supplied:
        for modality, keys in hashes.items():
            for key, item, its_updates in zip(
                keys, items.get(modality, ()), updates.get(modality, ()), strict=False
            ):
                cache.get_and_update_item((item, its_updates), key)
    return reference.merge_mm_kwargs(cache, hashes, is_cached, items, updates)


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
