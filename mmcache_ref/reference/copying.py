"""Copies of arrays out of the segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

PAGE_BYTES: Final = 4096
LINE_BYTES: Final = 64
"""What a copy is aligned to: enough for every dtype."""
LARGE: Final = 4 * 2**20
"""From so many bytes on it matters where in its memory page a copy begins."""


def copied(array: Array) -> Array:
    """A copy in row-major order that owns its memory.   [OS-20]"""
    return array.copy() if array.nbytes < LARGE else copied_in_step(array)


def copied_from(memory: memoryview, begin: int, nbytes: int, shape: Sequence[int], dtype: Any) -> Array:
    """A copy of the array of so many bytes that begins there; its memory is a byte array's.   [OS-20]

    What `copied` gives, but for who owns the memory, which nobody sees of a tensor that is made of it. NumPy
    comes in once, where there it makes one array for the view and another for the copy.
    """
    if nbytes < LARGE:
        return np.ndarray(shape, dtype, bytearray(memory[begin : begin + nbytes]))
    return copied_in_step(np.ndarray(shape, dtype, memory, begin))


def copied_in_step(array: Array) -> Array:
    """A copy that begins where in a memory page the original does, at the next line.   [OS-20]

    The C library copies large blocks that lie so in another way than others: into new memory in two thirds of
    the time. The copy keeps one page more than its bytes.
    """
    memory = np.empty(array.nbytes + PAGE_BYTES, np.uint8)
    line = -(-array.ctypes.data // LINE_BYTES) * LINE_BYTES
    copy: Array = np.ndarray(array.shape, array.dtype, memory, (line - memory.ctypes.data) % PAGE_BYTES)
    np.copyto(copy, array)
    return copy
