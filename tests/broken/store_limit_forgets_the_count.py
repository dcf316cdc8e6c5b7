"""The limit is compared without the reader count.   [OS-03, OS-04]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-03", "OS-04", "OS-27", "OS-34"), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def __init__(self, max_object_size: int, *others: Any, **more: Any) -> None:
        super().__init__(max_object_size + self.flag_bytes, *others, **more)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
