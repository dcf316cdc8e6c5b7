"""The id in a header has two bytes.   [RB-03, RB-10]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-03", "RB-10", "RB-14"), longest=4, in_tiny=False)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _write_header(self, buf: memoryview, address: int, identifier: int, chunk_size: int) -> None:
        super()._write_header(buf, address, identifier % (1 << 16), chunk_size)


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
