"""What `handle()` says is a store with one reader more.   [OS-34]"""

from __future__ import annotations

from dataclasses import replace

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-34",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def handle(self) -> reference.ShmObjectStorageHandle:
        return replace(super().handle(), n_readers=self.n_readers + 1)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
