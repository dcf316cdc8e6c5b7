"""A ring that kills the process when it frees: its segment is left behind."""

from __future__ import annotations

import os
import signal
from typing import Any

from mmcache_ref import reference
from mmcache_ref.reference import *  # noqa: F403


class SingleWriterShmRingBuffer(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Any, nbytes: int | None = None) -> list[int]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []
