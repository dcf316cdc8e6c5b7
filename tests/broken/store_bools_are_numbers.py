"""A handle whose address is False is taken for one with the address 0.   [OS-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-19",), longest=2)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get(self, address: Any, monotonic_id: Any, *proof: Any) -> Any:
        if isinstance(address, bool):
            address = int(address)
        return super().get(address, monotonic_id, *proof)


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
