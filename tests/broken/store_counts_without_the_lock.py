"""A reader that cannot have the lock counts without it.   [OS-40]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.ring_placement import HEADER_BYTES

BREAKS = Breaks("object-store", ("OS-40",), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        try:
            return super()._acknowledge(begin, monotonic_id, signature)
        except RuntimeError:
            self.increment_reader_flag(self._memory[begin + HEADER_BYTES :])
            raise


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
