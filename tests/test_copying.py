"""Copies out of the segment: the fast way gives what the simple one gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmcache_ref.reference.copying import (
    LARGE,
    LINE_BYTES,
    PAGE_BYTES,
    copied,
    copied_from,
    copied_in_step,
)


@pytest.mark.clause("OS-20")
@pytest.mark.parametrize("offset", [0, 1, 63, 64, 65, 77, 4095, 4096])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64, ">i2"])
def test_a_copy_in_step_is_a_copy(offset: int, dtype: Any) -> None:
    memory = np.arange(3 * PAGE_BYTES, dtype=np.uint16).view(np.uint8)
    array = np.ndarray((10, 24), dtype, memory, offset)
    copy = copied_in_step(array)
    assert (copy.tobytes(), copy.dtype, copy.shape) == (array.tobytes(), array.dtype, array.shape)
    assert copy.flags.c_contiguous
    assert copy.flags.writeable
    assert not np.shares_memory(copy, memory)
    assert copy.ctypes.data % LINE_BYTES == 0
    assert 0 <= (copy.ctypes.data - array.ctypes.data) % PAGE_BYTES < LINE_BYTES


@pytest.mark.clause("OS-20")
@pytest.mark.parametrize("size", [0, 1, LARGE - 1, LARGE])
def test_a_copy_of_any_size_is_a_copy(size: int) -> None:
    array = np.arange(size, dtype=np.uint8)
    copy = copied(array)
    assert np.array_equal(copy, array)
    assert not np.shares_memory(copy, array)


@pytest.mark.clause("OS-20")
@pytest.mark.parametrize("size", [0, 1, 24, LARGE - 8, LARGE])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_a_copy_for_a_tensor_is_that_of_an_array(size: int, dtype: Any) -> None:
    original = np.arange(size + 9, dtype=np.uint8)
    shape = (size // np.dtype(dtype).itemsize,)
    nbytes = shape[0] * np.dtype(dtype).itemsize
    memory = memoryview(original).cast("B")
    copy = copied_from(memory, 9, nbytes, shape, dtype)
    plain = copied(np.ndarray(shape, dtype, memory, 9))
    assert (copy.tobytes(), copy.dtype, copy.shape) == (plain.tobytes(), plain.dtype, plain.shape)
    assert copy.flags.writeable
    assert copy.flags.c_contiguous
    assert not np.shares_memory(copy, original)
