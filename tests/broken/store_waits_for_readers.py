"""A put for which there is no room frees until there is some.   [IF-20]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("IF-20",), longest=5)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _allocate(self, size: int) -> Any:
        while True:
            try:
                return super()._allocate(size)
            except MemoryError:
                self.free_unused()


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
