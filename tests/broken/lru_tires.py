"""After five touches, the cache forgets to move what is touched: nothing that one short run shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from broken import names
from mmcache_ref import reference

ENOUGH = 5


class LRUCache(reference.LRUCache):
    """Counts its touches."""

    touches = 0

    def touch(self, key: Any) -> None:
        """Does nothing when it is tired."""
        self.touches += 1
        if self.touches <= ENOUGH:
            super().touch(key)


namespace = SimpleNamespace(**names(LRUCache=LRUCache))
