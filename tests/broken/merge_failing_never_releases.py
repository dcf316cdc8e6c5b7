"""The touches of a merge step that fails do not end.   [KR-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from broken.merge_never_releases import Unreleased
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=4, in_tiny=False)


def merge_mm_kwargs(cache: Any, *rest: Any) -> Any:
    unreleased: Any = Unreleased(cache)
    merged = reference.merge_mm_kwargs(unreleased, *rest)
    cache.release_sender_touches()
    return merged


globals().update(names(merge_mm_kwargs=merge_mm_kwargs))
