"""Touches last until the next clear.   [SC-09]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks(
    "shm-pair",
    (
        "SC-09",
        "SC-02",
        "SC-05",
        "SC-36",
    ),
    longest=3,
    level=2,
)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def release_sender_touches(self) -> None:
        return


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
