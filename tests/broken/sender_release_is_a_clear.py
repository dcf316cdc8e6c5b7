"""The base class's own release of touches clears the cache.   [IF-08]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("IF-08",), longest=1)


class BaseMultiModalProcessorCache(reference.BaseMultiModalProcessorCache):
    def release_sender_touches(self) -> None:
        self.clear_cache()


globals().update(names(BaseMultiModalProcessorCache=BaseMultiModalProcessorCache))
