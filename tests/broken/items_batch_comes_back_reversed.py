"""A batched field gives the batch back from the last entry to the first.   [IT-03]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-03", "IT-08"), longest=1)


class MultiModalBatchedField(reference.MultiModalBatchedField):
    def reduce_data(self, elems: Any, **options: Any) -> Any:
        return super().reduce_data(elems[::-1], **options)


globals().update(names(MultiModalBatchedField=MultiModalBatchedField))
