"""All senders of the process share what they promise.   [IF-19]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-19",), longest=1)


PROMISES: Any = reference.key_replicated.PromisedEntries()


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def __init__(self, model_config: Any) -> None:
        super().__init__(model_config)
        self._promises = PROMISES


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
