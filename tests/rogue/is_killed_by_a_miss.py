"""A receiver that is killed when it misses an item after something was evicted from it."""

from __future__ import annotations

import os
import signal
from typing import Any

from mmcache_ref import reference

globals().update({name: getattr(reference, name) for name in reference.__all__})


class LruKeyReplicatedReceiverCache(reference.LruKeyReplicatedReceiverCache):
    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        before = set(self._cache)
        try:
            return super().get_and_update_item(mm_item, mm_hash)
        except reference.MultiModalCacheMissError:
            if self.has_evicted:
                os.kill(os.getpid(), signal.SIGKILL)
            raise
        finally:
            self.has_evicted = getattr(self, "has_evicted", False) or bool(before - set(self._cache))

    has_evicted = False
