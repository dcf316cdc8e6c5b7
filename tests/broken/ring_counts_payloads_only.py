"""The bytes freed are counted without the headers.   [RB-17]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-17",), longest=3)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _free_prefix(self, buf: memoryview, is_free: Any, nbytes: int) -> list[int]:
        with_headers, left = 0, nbytes
        for size in self._sizes.values():
            if left <= 0:
                break
            with_headers += size
            left -= size - self.MD_SIZE
        return super()._free_prefix(buf, is_free, with_headers)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
