"""The promises of one request serve the next.   [KR-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("sender", ("KR-15",), longest=5)


class LruKeyReplicatedSenderCache(reference.LruKeyReplicatedSenderCache):
    def release_sender_touches(self) -> None:
        return


globals().update(names(LruKeyReplicatedSenderCache=LruKeyReplicatedSenderCache))
