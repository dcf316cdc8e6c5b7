"""A reader that touches checks nothing.   [OS-17, OS-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-17", "OS-19"), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def touch(self, key: str, *handle: Any) -> None:
        if self.is_writer:
            super().touch(key, *handle)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
