"""A reader without a lock makes one of its own.   [OS-35]"""

from __future__ import annotations

from dataclasses import replace
from multiprocessing import Lock
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-35",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    @staticmethod
    def create_from_handle(handle: Any) -> Any:
        lock = handle.reader_lock or Lock()
        return reference.SingleWriterShmObjectStorage.create_from_handle(replace(handle, reader_lock=lock))


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
