"""Items and collections of items."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast

from .fields import MultiModalFieldConfig, MultiModalFieldElem, MultiModalSharedField
from .tensors import BatchedTensorInputs, NestedTensors, nested_tensors_equal, zeros_uint8


class MultiModalKwargsItem(UserDict[str, MultiModalFieldElem]):
    """One processed image, audio clip or video: keyword to element.   [IT-06]"""

    @staticmethod
    def dummy(nbytes: int = 1) -> MultiModalKwargsItem:
        """An item of `nbytes` zero bytes under the one key `dummy`.   [IT-07]

        The bytes are a tensor where PyTorch is installed (which imports it), otherwise an array.
        """
        element = MultiModalFieldElem(zeros_uint8(nbytes), MultiModalSharedField(batch_size=1))
        return MultiModalKwargsItem({"dummy": element})

    def get_data(self) -> dict[str, NestedTensors]:
        """Keyword to the data of its element.   [IT-06]"""
        return {key: element.data for key, element in self.items()}


_Item = TypeVar("_Item", bound=MultiModalKwargsItem | None)


class MultiModalKwargsItems(UserDict[str, Sequence[_Item]], Generic[_Item]):
    """Modality to its items, in order; an item that P1 is believed to have may be `None`.   [IT-08]"""

    @staticmethod
    def from_hf_inputs(
        hf_inputs: Mapping[str, NestedTensors], config_by_key: Mapping[str, MultiModalFieldConfig]
    ) -> MultiModalKwargsItems[MultiModalKwargsItem]:
        """Cut the output of a processor into items.   [IT-03, IT-04, IT-05]

        Each keyword of `config_by_key` that is in `hf_inputs`, is not `None` and gives elements goes into the
        items of its modality. Raises `ValueError` when the keywords of a modality give different numbers of
        items.
        """
        elements: dict[str, dict[str, Sequence[MultiModalFieldElem]]] = {}
        for key, config in config_by_key.items():
            batch = hf_inputs.get(key)
            if batch is not None and (built := config.build_elems(key, batch)):
                elements.setdefault(config.modality, {})[key] = built
        items: dict[str, Sequence[MultiModalKwargsItem]] = {}
        for modality, by_key in elements.items():
            sizes = {key: len(built) for key, built in by_key.items()}
            if len(set(sizes.values())) > 1:
                raise ValueError(f"the keywords of {modality!r} have different numbers of items: {sizes}")
            items[modality] = [
                MultiModalKwargsItem(dict(zip(by_key, row, strict=True)))
                for row in zip(*by_key.values(), strict=True)
            ]
        return MultiModalKwargsItems(items)

    def __getitem__(self, modality: str) -> Sequence[_Item]:
        """The items of a modality; `KeyError` naming the known ones when there is none.   [IT-08]"""
        try:
            return self.data[modality]
        except KeyError:
            known = ", ".join(map(repr, self.data)) or "none"
            raise KeyError(f"no modality {modality!r} here; there is: {known}") from None

    def require_data(self) -> MultiModalKwargsItems[MultiModalKwargsItem]:
        """This very collection, if no item is `None`; otherwise `RuntimeError` naming the first.   [IT-08]"""
        for modality, items in self.items():
            for index, item in enumerate(items):
                if item is None:
                    raise RuntimeError(f"item {index} of {modality!r} is None: its data is not here")
        return cast("MultiModalKwargsItems[MultiModalKwargsItem]", self)

    def get_data(self, *, device: Any = None, pin_memory: bool = False) -> BatchedTensorInputs:
        """Keyword to the batch over the items of its modality.   [IT-08]

        When two modalities have a keyword, the later wins. `device` and `pin_memory` are as in
        `BaseMultiModalField.reduce_data`. Raises `RuntimeError` when an item is `None`, or when the items of
        a modality cannot form one batch: they differ in keywords, field types, or shared data.
        """
        batches: BatchedTensorInputs = {}
        for modality, items in self.require_data().items():
            if not items:
                continue
            if not all(_can_batch(items[0], item) for item in items[1:]):
                raise RuntimeError(
                    f"the {len(items)} items of {modality!r} cannot form one batch: they differ in keywords, "
                    "fields or shared data"
                )
            for key, element in items[0].items():
                batches[key] = element.field.reduce_data(
                    [item[key] for item in items], device=device, pin_memory=pin_memory
                )
        return batches


def _can_batch(first: MultiModalKwargsItem, other: MultiModalKwargsItem) -> bool:
    """Whether two items have the same keywords and field types, and the same data where it is shared."""
    return first.keys() == other.keys() and all(
        type(element.field) is type(other[key].field)
        and (
            not isinstance(element.field, MultiModalSharedField)
            or nested_tensors_equal(element.data, other[key].data)
        )
        for key, element in first.items()
    )


MultiModalKwargsOptionalItems: TypeAlias = (
    MultiModalKwargsItems[MultiModalKwargsItem] | MultiModalKwargsItems[MultiModalKwargsItem | None]
)
"""A collection in which items may be `None`."""
