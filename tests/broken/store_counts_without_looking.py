"""A reader that has copied counts, whatever lies there now.   [OS-23, OS-41]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-23", "OS-41"), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        if self._reader_lock is not None:
            self.increment_reader_flag(self._memory[begin + self.ring_buffer.MD_SIZE :])
        return True


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
