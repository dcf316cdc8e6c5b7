"""A clear begins the ids anew.   [OS-29, OS-28]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-29", "OS-28"), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def clear(self) -> None:
        super().clear()
        self.ring_buffer.monotonic_id_start = self.ring_buffer.monotonic_id_end = 0


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
