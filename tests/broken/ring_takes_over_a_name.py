"""A name that is in use is taken over.   [RB-35]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-35",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def __init__(self, data_buffer_size: int, name: str | None = None, create: bool = False) -> None:
        try:
            super().__init__(data_buffer_size, name, create)
        except FileExistsError:
            super().__init__(data_buffer_size, name, False)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
