"""Items with batched fields, as most tests of caches need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmcache_ref.reference import MultiModalBatchedField, MultiModalFieldElem, MultiModalKwargsItem


def item_of(**data: Any) -> MultiModalKwargsItem:
    """An item with these elements."""
    field = MultiModalBatchedField()
    return MultiModalKwargsItem({key: MultiModalFieldElem(value, field) for key, value in data.items()})


def item(nbytes: int, fill: int = 0) -> MultiModalKwargsItem:
    """An item with one payload of so many bytes."""
    return item_of(pixels=np.full(nbytes, fill, np.uint8))
