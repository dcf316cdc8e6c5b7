"""The difference of the counters is counted from the last clear.   [IF-09]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-09",), longest=3)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def make_stats(self, *, delta: bool = False) -> Any:
        return super().make_stats()


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
