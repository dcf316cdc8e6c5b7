"""A reader fails where it cannot add to the reader count.   [OS-45]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.object_chunks import COUNT

BREAKS = Breaks("object-store", ("OS-45",), longest=1)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def increment_reader_flag(self, data_view: memoryview) -> None:
        COUNT.pack_into(data_view, 0, COUNT.unpack_from(data_view)[0] + 1)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
