"""`free_unused` frees all it can, and not up to twice the limit.   [OS-27, OS-33]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-27", "OS-33"), longest=7, level=1, in_tiny=False)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def free_unused(self) -> None:
        self._free(self.ring_buffer.data_buffer_size)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
