"""A lookup of a key that is not stored raises `ValueError`.   [OS-11]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-11",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get_cached(self, key: str) -> tuple[int, int]:
        if key not in self.key_index:
            raise ValueError(f"no object {key!r}")
        return super().get_cached(key)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
