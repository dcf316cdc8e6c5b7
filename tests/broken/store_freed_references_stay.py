"""References to a freed chunk stay in the writer's table.   [OS-26, OS-30]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-26", "OS-30", "OS-33"), longest=3, level=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _free(self, nbytes: int) -> list[int]:
        before = dict(self.writer_flag)
        freed = super()._free(nbytes)
        self.writer_flag |= {each: before[each] for each in freed}
        return freed


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
