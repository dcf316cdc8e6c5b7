"""Every segment has the same secret.   [RB-02]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("ring-buffer", ("RB-02",), longest=1)


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def _init_auth_secret(self) -> None:
        self.shared_memory.buf[: self.AUTH_SECRET_BYTES] = bytes(range(self.AUTH_SECRET_BYTES))


globals().update(names(SingleWriterShmRingBuffer=SingleWriterShmRingBuffer))
