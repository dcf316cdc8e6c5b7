"""The reference that a put hands out is not counted.   [OS-01, OS-32]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-01", "OS-32", "OS-25"), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def put(self, key: str, value: Any) -> tuple[int, int]:
        address, monotonic_id = super().put(key, value)
        self.writer_flag[monotonic_id] = 0
        return address, monotonic_id


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
