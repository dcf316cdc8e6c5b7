"""A lookup does not end the touch of its key.   [OS-10, OS-25]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-10", "OS-25"), longest=3, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get_cached(self, key: str) -> tuple[int, int]:
        was_touched = set(self._touched)
        entry = super().get_cached(key)
        self._touched |= was_touched
        return entry


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
