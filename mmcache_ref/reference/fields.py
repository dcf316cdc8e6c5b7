"""Elements, and the fields that say how the elements of several items form one batch."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

from .tensors import (
    NestedTensors,
    Tensor,
    concatenate,
    is_array,
    is_payload,
    is_tensor,
    moved,
    nested_tensors_equal,
    stack,
)


@dataclass(eq=False)
class MultiModalFieldElem:
    """One keyword argument of one item: nested data and the field it is batched by."""

    data: NestedTensors
    field: BaseMultiModalField

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Equal data in a field of the same type.   [IT-01]"""
        if not isinstance(other, MultiModalFieldElem):
            return NotImplemented
        return type(self.field) is type(other.field) and nested_tensors_equal(self.data, other.data)


@dataclass(frozen=True, kw_only=True)
class BaseMultiModalField(ABC):
    """How one keyword's data for all items of a modality is cut into elements and joined again.   [IT-02]

    `keep_on_cpu` keeps the batch where it is when a device is asked for.
    """

    keep_on_cpu: bool = False

    @abstractmethod
    def build_elems(self, modality: str, key: str, data: NestedTensors) -> Sequence[MultiModalFieldElem]:
        """One element for each item, in order, all with this field."""

    @abstractmethod
    def _reduce_data(self, batch: list[NestedTensors], *, pin_memory: bool) -> NestedTensors:
        """Put the data of the elements together."""

    def reduce_data(
        self, elems: Sequence[MultiModalFieldElem], *, device: Any = None, pin_memory: bool = False
    ) -> NestedTensors:
        """The batch that the elements form: the inverse of `build_elems`.   [IT-03, IT-04, IT-05]

        This field decides, not those of the elements; they must only have one type, else `ValueError`.
        With `device`, tensors are moved there. With `pin_memory`, a newly made tensor lies in page-locked
        memory.
        """
        field_types = {type(elem.field) for elem in elems}
        if len(field_types) > 1:
            names = ", ".join(sorted(field_type.__name__ for field_type in field_types))
            raise ValueError(f"cannot merge elements with different fields: {names}")
        batch = [elem.data for elem in elems]
        if self.keep_on_cpu:
            return self._reduce_data(batch, pin_memory=False)
        reduced = self._reduce_data(batch, pin_memory=pin_memory)
        return reduced if device is None else moved(reduced, device)


@dataclass(frozen=True, kw_only=True)
class MultiModalBatchedField(BaseMultiModalField):
    """The data has a first dimension over the items.   [IT-02, IT-03]"""

    def build_elems(self, modality: str, key: str, data: NestedTensors) -> Sequence[MultiModalFieldElem]:
        """One element of each entry of `data`.   [IT-03]

        Entries of an array are arrays, also those without dimensions. Raises `TypeError` when `data` has no
        entries to go through.
        """
        entries = [data[index, ...] for index in range(len(data))] if is_array(data) else data
        return [MultiModalFieldElem(entry, self) for entry in entries]

    def _reduce_data(self, batch: list[NestedTensors], *, pin_memory: bool) -> NestedTensors:
        """A payload when all entries are payloads of one shape, otherwise the list of entries.   [IT-03]"""
        if _is_of_one_kind(batch) and all(entry.shape == batch[0].shape for entry in batch):
            return stack(batch, pin_memory=pin_memory)
        return batch


@dataclass(frozen=True, kw_only=True)
class MultiModalFlatField(BaseMultiModalField):
    """The data of all items lies one behind the other along `dim`.   [IT-02, IT-04]

    Each of `slices` cuts out one item: a `slice` applies to dimension `dim`; a sequence of slices
    applies to the first dimensions, one each.
    """

    slices: Sequence[slice] | Sequence[Sequence[slice]]
    dim: int = 0

    def build_elems(self, modality: str, key: str, data: NestedTensors) -> Sequence[MultiModalFieldElem]:
        """One element of each slice of `data`.   [IT-04]

        A list or tuple has only its one dimension. Raises `AssertionError` for a sequence of slices on it.
        """
        return [MultiModalFieldElem(self._cut(data, piece), self) for piece in self.slices]

    def _cut(self, data: NestedTensors, piece: slice | Sequence[slice]) -> NestedTensors:
        if not is_payload(data):
            assert isinstance(piece, slice), "several slices for one item need a tensor or an array"
            return data[piece]
        if not isinstance(piece, slice):
            return data[tuple(piece)]
        if self.dim >= 0:
            return data[(slice(None),) * self.dim + (piece,)]
        return data[(..., piece) + (slice(None),) * (-self.dim - 1)]

    def _reduce_data(self, batch: list[NestedTensors], *, pin_memory: bool) -> NestedTensors:
        """Payloads concatenated along `dim`, anything else as one list of all entries.   [IT-04]

        Raises `AssertionError` for lists unless `dim` is 0.
        """
        if _is_of_one_kind(batch):
            return concatenate(batch, self.dim, pin_memory=pin_memory)
        assert self.dim == 0, f"lists can be joined along dimension 0 only, not {self.dim}"
        return list(chain.from_iterable(batch))


@dataclass(frozen=True, kw_only=True)
class MultiModalSharedField(BaseMultiModalField):
    """The data is the same for all `batch_size` items.   [IT-02, IT-05]"""

    batch_size: int

    def build_elems(self, modality: str, key: str, data: NestedTensors) -> Sequence[MultiModalFieldElem]:
        """`batch_size` elements with the very `data`.   [IT-05]"""
        return [MultiModalFieldElem(data, self)] * self.batch_size

    def _reduce_data(self, batch: list[NestedTensors], *, pin_memory: bool) -> NestedTensors:
        """The data of the first element; `IndexError` when there is none.   [IT-05]"""
        if not batch:
            raise IndexError("no element, so no data to share")
        return batch[0]


def _is_of_one_kind(batch: Sequence[NestedTensors]) -> bool:
    """Whether there are entries, and all are tensors or all are arrays."""
    return bool(batch) and (all(map(is_tensor, batch)) or all(map(is_array, batch)))


@dataclass(frozen=True)
class MultiModalFieldConfig:
    """The field and the modality of one keyword argument."""

    field: BaseMultiModalField
    modality: str

    @staticmethod
    def batched(modality: str, *, keep_on_cpu: bool = False) -> MultiModalFieldConfig:
        """The keyword has a first dimension over the items.   [IT-03]"""
        return MultiModalFieldConfig(MultiModalBatchedField(keep_on_cpu=keep_on_cpu), modality)

    @staticmethod
    def flat(
        modality: str,
        slices: Sequence[slice] | Sequence[Sequence[slice]],
        dim: int = 0,
        *,
        keep_on_cpu: bool = False,
    ) -> MultiModalFieldConfig:
        """The keyword has all items one behind the other along `dim`, cut by `slices`.   [IT-04]"""
        return MultiModalFieldConfig(
            MultiModalFlatField(slices=slices, dim=dim, keep_on_cpu=keep_on_cpu), modality
        )

    @staticmethod
    def flat_from_sizes(
        modality: str, size_per_item: Tensor, dim: int = 0, *, keep_on_cpu: bool = False
    ) -> MultiModalFieldConfig:
        """As `flat`, with slices of the given sizes, from 0 on without gaps.   [IT-04]

        `size_per_item` is a one-dimensional tensor or array of integers, else `ValueError` (dimensions) or
        `TypeError` (type).
        """
        if not is_payload(size_per_item):
            kind = type(size_per_item).__name__
            raise TypeError(f"size_per_item must be a tensor or an array of integers, not a {kind}")
        if size_per_item.ndim != 1:
            shape = tuple(size_per_item.shape)
            raise ValueError(f"size_per_item must have one dimension, but its shape is {shape}")
        ends = list(accumulate(map(operator.index, size_per_item.tolist()), initial=0))
        before = (slice(None),) * dim
        cuts = [slice(start, end) for start, end in pairwise(ends)]
        slices: Sequence[slice] | Sequence[Sequence[slice]]
        slices = cuts if dim < 0 else [(*before, cut) for cut in cuts]
        return MultiModalFieldConfig.flat(modality, slices, dim, keep_on_cpu=keep_on_cpu)

    @staticmethod
    def shared(modality: str, batch_size: int, *, keep_on_cpu: bool = False) -> MultiModalFieldConfig:
        """The keyword is the same for all `batch_size` items.   [IT-05]"""
        return MultiModalFieldConfig(
            MultiModalSharedField(batch_size=batch_size, keep_on_cpu=keep_on_cpu), modality
        )

    def build_elems(self, key: str, batch: NestedTensors) -> Sequence[MultiModalFieldElem]:
        """One element for each item of the batch.   [IT-03, IT-04, IT-05]"""
        return self.field.build_elems(self.modality, key, batch)
