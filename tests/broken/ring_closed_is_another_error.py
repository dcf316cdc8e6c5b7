"""A closed ring fails as it happens to.   [RB-31]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-31",), longest=2)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _writable(self, deed: str) -> memoryview:
        try:
            return super()._writable(deed)
        except AssertionError as error:
            if "closed" in str(error):
                raise TypeError("'NoneType' object is not subscriptable") from None
            raise


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
