"""The default serde writes items of this package alone.   [OS-39]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-39",), longest=1)


class MsgpackSerde(reference.MsgpackSerde):
    def serialize(self, value: Any) -> Any:
        if hasattr(value, "get_data") and not isinstance(value, reference.MultiModalKwargsItem):
            raise reference.SerdeError("not an item")
        return super().serialize(value)


globals().update(names(MsgpackSerde=MsgpackSerde))
