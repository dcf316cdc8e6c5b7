"""Each item that does not fit is reported by a warning.   [IF-04]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("IF-04",), longest=1)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def cache_if_fits(self, cache: Any, key: str, value: Any) -> bool:
        fits = super().cache_if_fits(cache, key, value)
        self._has_warned = False
        return fits


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
