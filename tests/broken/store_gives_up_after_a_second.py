"""A reader calls the holder of the lock dead after a second.   [OS-40]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-40",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    @staticmethod
    def _lock(lock: Any) -> None:
        if not lock.acquire(timeout=1.0):
            raise RuntimeError("a process may have died holding the lock")


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
