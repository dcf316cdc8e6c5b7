"""A put of a stored key takes a reference instead of being refused.   [OS-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-02",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def put(self, key: str, value: Any) -> tuple[int, int]:
        return self.get_cached(key) if self.is_cached(key) else super().put(key, value)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
