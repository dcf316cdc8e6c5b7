"""A reader looks before it copies; afterwards it only decides whether to count.   [OS-41]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-41",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        super()._acknowledge(begin, monotonic_id, signature)
        return True


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
