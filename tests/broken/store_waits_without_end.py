"""A reader waits for the lock of a dead one as long as it takes.   [OS-40]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-40",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    @staticmethod
    def _lock(lock: Any) -> None:
        lock.acquire()


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
