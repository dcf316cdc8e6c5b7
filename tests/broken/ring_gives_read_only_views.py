"""A payload cannot be written through its view.   [RB-14]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-14",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        payload, header = super().payload_at(address)
        return payload.toreadonly(), header


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
