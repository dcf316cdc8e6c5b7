"""The attributes of a shared field can be set.   [IT-02]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-02",), longest=1)


class MultiModalSharedField(reference.MultiModalSharedField):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


globals().update(names(MultiModalSharedField=MultiModalSharedField))
