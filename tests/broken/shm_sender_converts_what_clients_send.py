"""P0 converts the values of a client's handle before it looks at them.   [SC-15]"""

from __future__ import annotations

import contextlib
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-caches", ("SC-15",), longest=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        parts = [
            getattr(mm_item.get(name), "data", None) for name in ("address", "monotonic_id", "signature")
        ]
        with contextlib.suppress(TypeError, ValueError):
            mm_item = self.address_as_item(int(parts[0]), int(parts[1]), list(parts[2]))
        super().validate_input_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
