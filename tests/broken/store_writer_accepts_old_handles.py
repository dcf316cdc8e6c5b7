"""The writer accepts a handle that is rightly signed, and no longer current.   [OS-16]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import verified

BREAKS = Breaks("object-store", ("OS-16",), longest=3)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def verify_signature(self, *handle: Any) -> None:
        verified(self._current_secret(), *handle)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
