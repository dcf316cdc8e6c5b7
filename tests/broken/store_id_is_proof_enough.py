"""A chunk is in place if there is an id like that of the handle.   [OS-22, OS-42]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import HEAD

BREAKS = Breaks("object-store", ("OS-22", "OS-42"), longest=7)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _size_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> int | None:
        found_id, size, _ = HEAD.unpack_from(self._memory, begin)
        return int(size) if found_id == monotonic_id else None


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
