"""A writer sets the reader count to 0 when the object is complete already.   [OS-08]"""

from __future__ import annotations

from typing import Any

from mmcache_ref.reference import *  # noqa: F403
from mmcache_ref.reference import SingleWriterShmObjectStorage as Right


class SingleWriterShmObjectStorage(Right):
    def _publish(self, address: int, signature: bytes, *payload: Any) -> None:
        super()._publish(address, signature, *payload)
        begin = self._place(address)
        self._memory[begin + 8 : begin + 12] = bytes(4)
