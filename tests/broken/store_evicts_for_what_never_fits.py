"""What never fits is refused after all that is free was freed for it.   [OS-06]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-06",), longest=3)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _refuse_what_never_fits(self, size: int) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
