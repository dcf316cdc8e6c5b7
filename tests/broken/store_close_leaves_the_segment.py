"""A closed store leaves its segment behind.   [OS-37]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-37",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def close(self) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
