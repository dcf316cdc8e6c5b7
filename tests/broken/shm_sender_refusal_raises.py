"""A refused put fails the request.   [SC-05]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-05",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def _report_refusal(self, refusal: Exception) -> Any:
        raise refusal


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
