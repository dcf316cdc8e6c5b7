"""A segment has its length and no memory: the first write to a page takes it.   [RB-33]"""

from __future__ import annotations

import os

from broken import Breaks, for_now, names
from mmcache_ref import reference
from mmcache_ref.reference import segments

BREAKS = Breaks("ring-buffer", ("RB-33",), longest=1)


def _lengthen(descriptor: int, data_size: int, name: str) -> None:
    os.ftruncate(descriptor, data_size + segments.RECORD_BYTES)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def __init__(self, data_buffer_size: int, name: str | None = None, create: bool = False) -> None:
        with for_now([segments], "_claim", [_lengthen]):
            super().__init__(data_buffer_size, name, create)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
