"""An array weighs what it owns: a view weighs its header only.   [IT-19, IT-21]

P0 sizes the array that its processor made, which owns its memory: header and data count. In P1 the same
array arrives as a view of a message buffer, of which the header alone counts. One item has two sizes, so the
budgets run apart and the two sides evict different keys. A size must be a function of the logical content
only.
"""

from __future__ import annotations

import sys

import numpy as np

from mmcache_ref.reference.tensors import Tensor

from .fault import Fault


def bytes_of_the_object(value: Tensor) -> int:
    """Of an array, what Python says the object occupies."""
    if isinstance(value, np.ndarray):
        return sys.getsizeof(value)
    return int(value.numel() * value.element_size())


FAULT = Fault(
    name="D17",
    title="an item weighs differently on the two sides",
    replaces="reference.tensors:nbytes",
    rule=bytes_of_the_object,
    component="items",
    clauses=("IT-19", "IT-21"),
)
