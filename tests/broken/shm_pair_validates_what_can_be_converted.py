"""A signature is made a list before it is looked at.   [SC-15]"""

from __future__ import annotations

import contextlib
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("shm-pair", ("SC-15",), longest=2)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    def validate_input_item(self, mm_item: Any, mm_hash: str) -> None:
        if "signature" in mm_item:
            data = {name: element.data for name, element in mm_item.items()}
            with contextlib.suppress(TypeError):
                data["signature"] = list(data["signature"])
            mm_item = self.address_as_item(**data) if len(data) == 3 else mm_item
        super().validate_input_item(mm_item, mm_hash)


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
