"""A release leaves touches as they are.   [OS-13, OS-25]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-13", "OS-25"), longest=3, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def release_touches(self) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
