"""A put is refused after one attempt to make room.   [OS-05]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-05",), longest=11, in_beside=True)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _allocate(self, size: int) -> tuple[int, int, int]:
        for is_last in (False, True):
            end_before = self.ring_buffer.data_buffer_end
            try:
                return *self.ring_buffer.allocate_buf(size), end_before
            except MemoryError:
                if is_last:
                    raise
                self.free_unused()
        raise AssertionError


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
