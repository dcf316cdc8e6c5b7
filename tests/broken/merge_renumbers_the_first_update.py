"""Of several prompt updates of an item the first alone is renumbered.   [IF-12]"""

from __future__ import annotations

import dataclasses
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-12",), longest=1)


def merge_mm_kwargs(
    cache: Any, mm_hashes: Any, mm_is_cached: Any, mm_missing_kwargs: Any, mm_missing_prompt_updates: Any
) -> Any:
    items, updates = reference.merge_mm_kwargs(
        cache, mm_hashes, mm_is_cached, mm_missing_kwargs, mm_missing_prompt_updates
    )
    mixed = {modality: [_first_only(each) for each in many] for modality, many in updates.items()}
    return items, mixed


def _first_only(updates: Any) -> Any:
    return [*updates[:1], *(dataclasses.replace(each, item_idx=0) for each in updates[1:])]


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
