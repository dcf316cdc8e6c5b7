"""The seal is there before the data.   [OS-08]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import HEAD
from mmcache_ref.reference.seals import seal

BREAKS = Breaks("object-store", ("OS-08",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _publish(
        self, address: int, signature: bytes, data: Any, data_bytes: int, metadata: bytes, md_bytes: int
    ) -> None:
        size = HEAD.size + md_bytes + data_bytes
        sealed = seal(self._current_secret(), signature, size)
        begin = self._place(address) + HEAD.size
        self._memory[begin : begin + len(sealed)] = sealed
        self._has_seals = False
        try:
            super()._publish(address, signature, data, data_bytes, sealed + metadata[len(sealed) :], md_bytes)
        finally:
            self._has_seals = True


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
