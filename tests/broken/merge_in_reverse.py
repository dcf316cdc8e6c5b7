"""The modalities are updated in the reverse order.   [IF-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-11", "KR-02"), longest=1)


def merge_mm_kwargs(
    cache: Any, mm_hashes: Any, mm_is_cached: Any, mm_missing_kwargs: Any, mm_missing_prompt_updates: Any
) -> Any:
    backwards = {modality: mm_hashes[modality] for modality in reversed(mm_hashes)}
    return reference.merge_mm_kwargs(
        cache, backwards, mm_is_cached, mm_missing_kwargs, mm_missing_prompt_updates
    )


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
