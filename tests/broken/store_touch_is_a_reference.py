"""A touch counts as a reference, which nobody acknowledges.   [OS-14, OS-12]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-14", "OS-12"), longest=2, level=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def touch(self, key: str, *handle: Any) -> None:
        super().touch(key, *handle)
        if self.is_writer and key in self.key_index:
            self.increment_writer_flag(self.key_index[key][1])


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
