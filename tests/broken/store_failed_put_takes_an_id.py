"""A put that fails while copying has used an id up.   [OS-07]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-07",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _take_back(self, monotonic_id: int, end_before: int) -> None:
        super()._take_back(monotonic_id, end_before)
        self.ring_buffer.monotonic_id_end = monotonic_id + 1


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
