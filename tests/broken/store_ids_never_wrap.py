"""A chunk is gone if a larger id lies at its address, as if ids never wrapped.   [OS-21, OS-22, OS-42]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import HEAD

BREAKS = Breaks("object-store", ("OS-21", "OS-22", "OS-42"), longest=8, in_beside=True)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _size_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> int | None:
        found_id, size, _ = HEAD.unpack_from(self._memory, begin)
        return None if found_id > monotonic_id else int(size)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
