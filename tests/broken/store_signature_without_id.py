"""A signature does not cover the id.   [OS-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import key_digest, sign

BREAKS = Breaks("object-store", ("OS-15",), longest=2, in_tiny=False)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get_signature(self, key: str) -> list[int]:
        address, _ = self.key_index[key]
        return list(sign(self._current_secret(), key_digest(key), address, 0))


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
