"""Elements of different dtypes are equal.   [IT-01]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-01",), longest=1)


class MultiModalFieldElem(reference.MultiModalFieldElem):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        same_field = isinstance(other, MultiModalFieldElem) and type(self.field) is type(other.field)
        return same_field and reference.nested_tensors_equal(self.data, other.data, check_dtype=False)


globals().update(names(MultiModalFieldElem=MultiModalFieldElem))
