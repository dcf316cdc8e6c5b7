"""The message of a miss does not name the hashes.   [IF-17]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("receiver", ("IF-17",), longest=1)


class MultiModalCacheMissError(reference.MultiModalCacheMissError):
    def __str__(self) -> str:
        return "The request should be retried with the data attached."


globals().update(names(MultiModalCacheMissError=MultiModalCacheMissError))
