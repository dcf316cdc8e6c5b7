"""What lies at the address of a handle is read, whatever its id.   [OS-21, OS-22]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import HEAD

BREAKS = Breaks("object-store", ("OS-21", "OS-22", "OS-41", "OS-23", "OS-42", "OS-29"), longest=4)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _size_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> int | None:
        _, size, _ = HEAD.unpack_from(self._memory, begin)
        return int(size)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
