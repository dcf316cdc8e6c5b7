"""An attempt to make room frees one chunk, and not up to twice the limit.   [OS-04, OS-05]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-04", "OS-05"), longest=6, level=2, in_beside=True)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _free(self, nbytes: int) -> list[int]:
        return super()._free(nbytes if self._is_told else 1)

    _is_told = False

    def free_unused(self) -> None:
        self._is_told = True
        super().free_unused()
        self._is_told = False


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
