"""A reader that closes removes the name of the segment.   [RB-36]"""

from __future__ import annotations

import contextlib
from pathlib import Path

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-36",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def close(self) -> None:
        super().close()
        if not self.is_writer:
            with contextlib.suppress(OSError):
                Path("/dev/shm", self.handle()[1]).unlink()


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
