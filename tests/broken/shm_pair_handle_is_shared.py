"""The elements of a handle are shared and not batched.   [SC-06]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-06",), longest=1)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def address_as_item(self, *args: Any, **more: Any) -> Any:
        handle = super().address_as_item(*args, **more)
        shared = reference.MultiModalSharedField(batch_size=1)
        return reference.MultiModalKwargsItem(
            {name: reference.MultiModalFieldElem(each.data, shared) for name, each in handle.items()}
        )


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
