"""A read is not acknowledged.   [OS-20, OS-25]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-20", "OS-25", "OS-32"), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def increment_reader_flag(self, data_view: memoryview) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
