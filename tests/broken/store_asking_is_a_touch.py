"""Asking whether a key is stored protects it.   [OS-09]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-09",), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def is_cached(self, key: str) -> bool:
        self.touch(key)
        return super().is_cached(key)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
