"""A put that fails while copying leaves its chunk in the ring.   [OS-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-07",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _take_back(self, monotonic_id: int, end_before: int) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
