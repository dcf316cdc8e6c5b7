"""Elements, fields and collections of a target, asked by the operations of `model/data_model.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from mmcache_ref.model import data_model as model
from mmcache_ref.model.values import Description, Shape
from mmcache_ref.oracle.adapters.base import Unexpected, need, tensor_of
from mmcache_ref.oracle.namespace import call_with

CLASSES: Final = {
    "batched": "MultiModalBatchedField",
    "flat": "MultiModalFlatField",
    "shared": "MultiModalSharedField",
}
KEY: Final = "data"


class DataModelAdapter:
    """Builds each value out of the target's own classes, with `build` for the data of elements.

    A question about a class that the target does not offer is not asked: `NotOffered`.
    """

    def __init__(self, namespace: Any, build: Callable[[Description], Any]) -> None:
        self.namespace = namespace
        self._build = build
        self._tensor = tensor_of()

    def perform(self, question: model.Question) -> Any:
        """One question."""
        names = self.namespace
        match question:
            case model.Equal(one, other, field, other_field):
                need(names, "MultiModalFieldElem", CLASSES[field], CLASSES[other_field])
                mine = names.make_element(KEY, self._build(one), field)
                return bool(mine == names.make_element(KEY, self._build(other), other_field))
            case model.FieldTraits(field):
                return self._traits(field)
            case model.Batch("flat", shapes, _, is_list=True):
                return self._list(shapes)
            case model.Batch(field, shapes, dim):
                return self._batch(field, shapes, dim)
            case model.GetData(keys, void):
                data = {key: None if key in void else self._payload((2,), 1) for key in (*keys, *void)}
                item = names.make_item(data)
                found = item.get_data()
                return tuple([(key, found[key] is item[key].data) for key in sorted(found)])
            case model.Dummy(nbytes):
                return self._dummy(nbytes)
            case model.Collection(members, is_required):
                return self._collection(members, is_required)
            case model.Embeds(length, is_embed):
                need(names, "PlaceholderRange")
                given = None if is_embed is None else self._tensor(numpy.array(is_embed, bool))
                return int(names.PlaceholderRange(0, length, given).get_num_embeds())
            case model.Info(hits, total, other):
                need(names, "CacheInfo")
                info = names.CacheInfo(hits, total)
                return info.hit_ratio, tuple(info - names.CacheInfo(*other))

    def _payload(self, shape: Shape, fill: int) -> Any:
        """A tensor of this shape, where there is torch; each element is `fill`."""
        return self._tensor(numpy.full(shape, fill, numpy.uint8))

    def _traits(self, field: model.Field) -> Any:
        """`keep_on_cpu` by default, and two refusals."""
        need(self.namespace, CLASSES[field])
        made = self.namespace.make_field(field)
        required = {"batched": (), "flat": ([slice(None)],), "shared": (1,)}[field]
        keep_on_cpu = getattr(made, "keep_on_cpu", Unexpected("no attribute keep_on_cpu"))
        try:
            getattr(self.namespace, CLASSES[field])(*required, False)
            is_keyword_only = False
        except TypeError:
            is_keyword_only = True
        try:
            made.keep_on_cpu = True
            is_frozen = False
        except AttributeError:
            is_frozen = True
        return keep_on_cpu, is_keyword_only, is_frozen

    def _batch(self, field: model.Field, shapes: tuple[Shape, ...], dim: int) -> Any:
        """The elements of a batch, and what they are reduced to."""
        need(self.namespace, CLASSES[field])
        arrays = [numpy.full(shape, number + 1, numpy.uint8) for number, shape in enumerate(shapes)]
        entries = [self._tensor(array) for array in arrays]
        make = getattr(self.namespace, CLASSES[field])
        if field == "shared":
            made, data = make(batch_size=len(shapes)), entries[0]
        elif field == "batched":
            is_even = len(set(shapes)) == 1
            made, data = make(), self._tensor(numpy.stack(arrays)) if is_even else entries
        else:
            cuts, start = [], 0
            for shape in shapes:
                cuts.append((*[slice(None)] * (dim % len(shape)), slice(start, start + shape[dim])))
                start += shape[dim]
            made, data = make(slices=cuts, dim=dim), self._tensor(numpy.concatenate(arrays, axis=dim))
        elements = made.build_elems("image", KEY, data)
        return tuple([block(each.data) for each in elements]), block(made.reduce_data(list(elements)))

    def _list(self, shapes: tuple[Shape, ...]) -> Any:
        """The elements of a list of rows in a flat field, and what they are reduced to."""
        need(self.namespace, CLASSES["flat"])
        rows, cuts = list[Any](), list[slice]()
        for number, shape in enumerate(shapes):
            cuts.append(slice(len(rows), len(rows) + shape[0]))
            rows += [self._payload(shape[1:], number + 1) for _ in range(shape[0])]
        made = self.namespace.MultiModalFlatField(slices=cuts)
        elements = made.build_elems("image", KEY, rows)
        return tuple([block(each.data) for each in elements]), block(made.reduce_data(list(elements)))

    def _dummy(self, nbytes: int | None) -> Any:
        """What is in a dummy item: its key, its bytes and their type, its field and how many share it."""
        given = {"modality": "image"} if nbytes is None else {"modality": "image", "nbytes": nbytes}
        item = call_with(self.namespace.MultiModalKwargsItem.dummy, given)
        (key,) = item
        data, field = item[key].data, item[key].field
        dtype = str(data.dtype).rpartition(".")[2]
        return key, data.nbytes, dtype, type(field).__name__, getattr(field, "batch_size", None)

    def _collection(self, members: tuple[tuple[str, tuple[int, ...]], ...], is_required: bool) -> Any:
        """The batches of a collection, or whether it is complete."""
        names = self.namespace
        collection = names.MultiModalKwargsItems(
            {
                modality: [
                    names.make_item({modality: self._payload((2,), number)}) if number else None
                    for number in items
                ]
                for modality, items in members
            }
        )
        if is_required:
            return "itself" if collection.require_data() is collection else Unexpected("another collection")
        return tuple(sorted([(key, block(batch)) for key, batch in dict(collection.get_data()).items()]))


def block(data: Any) -> Any:
    """A payload in canonical form; of a list, each member."""
    if isinstance(data, list | tuple):
        return tuple([block(each) for each in data])
    try:
        return model.Block(tuple(data.shape), tuple([int(each) for each in data.reshape(-1).tolist()]))
    except (TypeError, ValueError, AttributeError) as error:
        return Unexpected(f"not a payload: {data!r:.80} ({error})")
