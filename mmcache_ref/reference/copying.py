"""Copies of arrays out of the segment."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

PAGE_BYTES: Final = 4096
LINE_BYTES: Final = 64
"""What a copy is aligned to: enough for every dtype."""
LARGE: Final = 4 * 2**20
"""From so many bytes on it matters where in its memory page a copy begins."""


def copied(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy in row-major order with memory of its own.   [OS-20]"""
    return array.copy() if array.nbytes < LARGE else copied_in_step(array)


def copied_in_step(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that begins where in a memory page the original does, at the next line.   [OS-20]

    The C library copies large blocks that lie so in another way than others: into new memory in two thirds of
    the time. The copy keeps one page more than its bytes.
    """
    memory = np.empty(array.nbytes + PAGE_BYTES, np.uint8)
    line = -(-array.ctypes.data // LINE_BYTES) * LINE_BYTES
    copy: np.ndarray[Any, Any] = np.ndarray(
        array.shape, array.dtype, memory, (line - memory.ctypes.data) % PAGE_BYTES
    )
    np.copyto(copy, array)
    return copy
