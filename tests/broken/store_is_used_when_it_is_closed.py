"""A closed store refuses a put by some other error.   [OS-37]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-37",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def _closed(self) -> Any:
        return ValueError("closed")


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
