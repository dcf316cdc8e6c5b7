"""A lookup hands a handle out, and does not count it.   [OS-10, OS-25]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-10", "OS-25", "OS-32"), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def increment_writer_flag(self, id: int) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
