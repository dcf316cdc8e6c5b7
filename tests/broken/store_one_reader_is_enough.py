"""A chunk is free when one reader has acknowledged each reference.   [OS-25, OS-04]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import COUNT

BREAKS = Breaks("object-store", ("OS-25", "OS-04", "OS-33"), longest=4, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        return id not in self._touched and COUNT.unpack_from(buf)[0] >= self.writer_flag[id]


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
