"""The record behind the data area has the id of the process that started this one.   [RB-34]"""

from __future__ import annotations

import os
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.oracle import segments

BREAKS = Breaks("ring-buffer", ("RB-34",), longest=1)
PLACE_OF_PID = 24


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def __init__(self, data_buffer_size: int, name: Any = None, create: bool = False) -> None:
        super().__init__(data_buffer_size, name, create)
        if create:
            place = self.DATA_OFFSET + data_buffer_size + PLACE_OF_PID
            segments.write(self.handle()[1], place, os.getppid().to_bytes(8, "little"))


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
