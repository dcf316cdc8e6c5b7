"""An entry is charged one byte for its prompt updates.   [PO-05]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("processor-only", ("PO-05", "PO-02"), longest=1, level=2)


class MultiModalProcessorOnlyCache(reference.MultiModalProcessorOnlyCache):
    def __init__(self, model_config: Any) -> None:
        super().__init__(model_config)
        size_of = self._cache.getsizeof
        self._cache = reference.LRUCache(self._cache.capacity, getsizeof=lambda value: size_of(value) + 1)


globals().update(names(MultiModalProcessorOnlyCache=MultiModalProcessorOnlyCache))
