"""The default serde falls back to pickle for what it does not know.   [OS-24]"""

from __future__ import annotations

import pickle
from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("object-store", ("OS-24",), longest=1)


class MsgpackSerde(reference.MsgpackSerde):
    def deserialize(self, data: memoryview) -> Any:
        try:
            return super().deserialize(data)
        except ValueError:
            return pickle.loads(data)


globals().update(names(MsgpackSerde=MsgpackSerde))
