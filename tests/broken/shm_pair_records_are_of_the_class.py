"""All senders have one record of prompt updates.   [IF-19]"""

from __future__ import annotations

from typing import Any, ClassVar

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks(
    "shm-pair",
    (
        "IF-19",
        "SC-11",
    ),
    longest=1,
)


class ShmObjectStoreSenderCache(reference.ShmObjectStoreSenderCache):
    RECORDS: ClassVar[dict[str, Any]] = {}

    def __init__(self, vllm_config: Any) -> None:
        super().__init__(vllm_config)
        self._p0_cache = self.RECORDS

    def is_cached_item(self, mm_hash: str) -> bool:
        return mm_hash in self._p0_cache


globals().update(names(ShmObjectStoreSenderCache=ShmObjectStoreSenderCache))
