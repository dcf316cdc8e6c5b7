"""A hash that occurs twice is updated once, and sent twice.   [IF-12]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-02", "IF-11", "IF-12"), longest=1)


def merge_mm_kwargs(
    cache: Any, mm_hashes: Any, mm_is_cached: Any, mm_missing_kwargs: Any, mm_missing_prompt_updates: Any
) -> Any:
    items, updates = reference.merge_mm_kwargs(
        cache, mm_hashes, mm_is_cached, mm_missing_kwargs, mm_missing_prompt_updates
    )
    for modality, hashes in mm_hashes.items():
        for place, mm_hash in enumerate(hashes):
            items[modality][place] = items[modality][hashes.index(mm_hash)]
    return items, updates


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
