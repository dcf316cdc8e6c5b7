"""`free_unused` of a reader passes over in silence.   [OS-36]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-36",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def free_unused(self) -> None:
        if self.is_writer:
            super().free_unused()


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
