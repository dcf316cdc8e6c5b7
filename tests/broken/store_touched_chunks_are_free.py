"""A touch does not keep a chunk from being freed.   [OS-25]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import COUNT

BREAKS = Breaks("object-store", ("OS-25",), longest=4, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        return COUNT.unpack_from(buf)[0] >= self.writer_flag[id] * self.n_readers


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
