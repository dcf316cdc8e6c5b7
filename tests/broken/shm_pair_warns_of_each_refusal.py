"""A sender warns of every item that it cannot store.   [IF-04]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("IF-04",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _report_refusal(self, refusal: Exception) -> None:
        self._has_warned = False
        super()._report_refusal(refusal)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
