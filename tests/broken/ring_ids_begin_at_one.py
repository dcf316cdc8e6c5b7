"""The first id is 1.   [RB-12]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-12", "RB-10"), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.monotonic_id_start = self.monotonic_id_end = 1


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
