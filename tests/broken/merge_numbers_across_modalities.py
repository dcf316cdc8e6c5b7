"""Prompt updates are renumbered through all modalities.   [IF-12]"""

from __future__ import annotations

import dataclasses
from itertools import count
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
    numbers = count()
    through = {
        modality: [_numbered(each, next(numbers)) for each in many] for modality, many in updates.items()
    }
    return items, through


def _numbered(updates: Any, number: int) -> Any:
    return [dataclasses.replace(each, item_idx=number) for each in updates]


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
