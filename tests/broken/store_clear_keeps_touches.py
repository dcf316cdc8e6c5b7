"""A clear leaves the touches as they are.   [OS-28, OS-30]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-28", "OS-30"), longest=3, level=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def clear(self) -> None:
        touched = set(self._touched)
        super().clear()
        self._touched |= touched


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
