"""The seal of a chunk that goes is not wiped.   [OS-26, OS-28]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-26", "OS-28"), longest=2, level=3)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _wipe(self, addresses: Any) -> None:
        pass


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
