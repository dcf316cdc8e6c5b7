"""The default serde makes a list of every tuple.   [OS-38]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-38",), longest=1)


class MsgpackSerde(reference.MsgpackSerde):
    def deserialize(self, data: memoryview) -> Any:
        value = super().deserialize(data)
        return list(value) if isinstance(value, tuple) else value


globals().update(names(MsgpackSerde=MsgpackSerde))
