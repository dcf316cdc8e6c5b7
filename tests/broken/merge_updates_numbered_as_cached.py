"""The prompt updates keep the place that they had when they were cached.   [IF-12]"""

from __future__ import annotations

import dataclasses
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-12",), longest=1)


def merge_mm_kwargs(
    cache: Any, mm_hashes: Any, mm_is_cached: Any, mm_missing_kwargs: Any, mm_missing_prompt_updates: Any
) -> Any:
    renumbered = reference.merge_mm_kwargs(
        cache, mm_hashes, mm_is_cached, mm_missing_kwargs, mm_missing_prompt_updates
    )
    items, updates = renumbered
    first = {modality: [_first(each) for each in many] for modality, many in updates.items()}
    return items, first


def _first(updates: Any) -> Any:
    return [dataclasses.replace(update, item_idx=0) for update in updates]


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
