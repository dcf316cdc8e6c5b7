"""A reader reads whatever address it is told.   [OS-18, OS-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import key_digest, sign

BREAKS = Breaks("object-store", ("OS-18", "OS-19"), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get(self, address: Any, monotonic_id: Any, signature: Any = None, key: Any = None) -> Any:
        if not self.is_writer:
            signed = sign(self._current_secret(), key_digest(str(key)), int(address), int(monotonic_id))
            signature, key = list(signed), str(key)
        return super().get(address, monotonic_id, signature, key)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
