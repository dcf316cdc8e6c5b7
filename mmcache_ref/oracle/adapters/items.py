"""Sizes of a target, asked by the operations of `model/items.py`."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import numpy

from mmcache_ref.model import items as model
from mmcache_ref.oracle.adapters.base import Unexpected, need, tensor_maker
from mmcache_ref.oracle.adapters.data_model import DataModelAdapter
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.namespace import GIB

ROOMY = 1 << 20
"""Bytes: a budget that any payload of an operation fits."""


class ItemsAdapter:
    """Builds each value out of the target's own classes."""

    def __init__(self, namespace: Any, config: model.Config) -> None:
        need(
            namespace,
            "LRUCache",
            "MultiModalCache",
            "MultiModalKwargsItem",
            "MultiModalKwargsItems",
            "MultiModalProcessorOnlyCache",
            "LruKeyReplicatedReceiverCache",
            "MultiModalProcessorCacheItem",
            "MultiModalProcessorCacheItemMetadata",
        )
        self.namespace = namespace
        self._tensor = tensor_maker()
        self._data_model = DataModelAdapter(namespace, self._build)

    def perform(self, operation: model.Operation) -> Any:
        """One question."""
        sizes = self.namespace.MultiModalCache
        match operation:
            case model.Size(value):
                return sizes.get_item_size(self._build(value))
            case model.LeafSize(leaf):
                if not hasattr(sizes, "get_leaf_size"):
                    raise NotOffered("the target has no get_leaf_size")
                return sizes.get_leaf_size(self._build(leaf))
            case model.Complexity(value):
                return sizes.get_item_complexity(self._build(value))
            case model.CachedSize(item, is_metadata, later):
                name = "Metadata" if is_metadata else ""
                built = self._build(item)
                cached = getattr(self.namespace, f"MultiModalProcessorCacheItem{name}")(built, [])
                if later is not None:
                    built["later"] = self.namespace.make_element("later", self._build(later))
                return sizes.get_item_size(cached)
            case model.Twins(shape, dtype, is_view):
                twins: tuple[model.Description, ...]
                twins = model.Tensor(shape, dtype, is_view), model.Array(shape, dtype, is_view)
                return tuple([sizes.get_item_size(self._build(each)) for each in twins])
            case model.MakeLru(budget):
                made = sizes.get_lru_cache(budget / GIB, self.namespace.MultiModalKwargsItem)
                return len(made), made.maxsize, made.currsize
            case model.CacheIfFits(nbytes, budget):
                return self._cache_if_fits(nbytes, budget)
            case model.Kept(model.Tensor() | model.Array() as payload, "sender"):
                return self._kept_by_sender(payload)
            case model.Kept(payload, cache):
                return self._kept(payload, cache)
            case _:
                return self._data_model.perform(operation)

    def blamed(self, operation: model.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """Which part of a value is weighed wrong: a leaf, by itself; or else how values are entered."""
        if isinstance(operation, model.Twins) and isinstance(actual, tuple):
            tensor, array = (each == mine for each, mine in zip(actual, expected, strict=True))
            return "IT-13" if array and not tensor else "IT-19" if tensor and not array else None
        if isinstance(operation, model.Size | model.CachedSize):
            value = operation.value if isinstance(operation, model.Size) else operation.item
            for leaf in model.leaves(value):
                if leaf != value and not self._is_weighed_right(leaf):
                    return model.KINDS[model.LEAF_KINDS[type(leaf)]]
            if isinstance(value, model.Sequence) and not value.members:
                return model.KINDS["no_leaves"]
            return "IT-12" if model.is_nested(value) and isinstance(operation, model.Size) else None
        if isinstance(operation, model.CacheIfFits):
            return self._blamed_for_charge(model.Tensor((operation.nbytes,), "uint8"))
        return None

    def _blamed_for_charge(self, payload: model.Tensor) -> str | None:
        """Whether it is a size that is wrong where an entry is said not to fit, or charged wrong."""
        if not self._is_weighed_right(payload):
            return "IT-13"
        item = self._build(model.Item((("data", payload),)))
        cached = self.namespace.MultiModalProcessorCacheItem(item, [])
        weight = self.namespace.MultiModalCache.get_item_size(cached)
        return None if weight == model.leaf_size(payload) else "IT-15"

    def _is_weighed_right(self, leaf: model.Leaf | None) -> bool:
        """Does the target weigh a leaf, or a list without leaves, as the model does?"""
        built = [] if leaf is None else self._build(leaf)
        try:
            return bool(self.namespace.MultiModalCache.get_item_size(built) == model.leaf_size(leaf))
        except Exception:
            return False

    def _kept_by_sender(self, payload: model.Tensor | model.Array) -> Any:
        """Record an item, drop it, and see whether it is still there."""
        config = self.namespace.make_model_config(ROOMY)
        sender = self.namespace.LruKeyReplicatedSenderCache(config)
        item = self.namespace.make_item({"data": self._build(payload)})
        watched = weakref.ref(item["data"].data)
        sender.get_and_update_item((item, []), "kept")
        del item
        if watched() is not None:
            gc.collect()
        left = watched()
        return 0 if left is None else Unexpected(f"the payload, kept alive: {memory_of(left)} B")

    def _cache_if_fits(self, nbytes: int, budget: int) -> Any:
        """What came back, and the bytes in use afterwards."""
        names = self.namespace
        cache = names.MultiModalProcessorOnlyCache(names.make_model_config(budget))
        item = names.make_item({"data": self._tensor((nbytes,), "uint8", False, 0)})
        value = names.MultiModalProcessorCacheItem(item, [])
        inner = names.LRUCache(budget, getsizeof=names.MultiModalCache.get_item_size)
        return cache.cache_if_fits(inner, "key", value), inner.currsize

    def _kept(self, payload: model.Description, cache_name: str) -> Any:
        """Cache an item with this payload, look it up, and follow the payload to the memory it is in."""
        data = {"data": self._build(payload)}
        if isinstance(payload, model.Sequence):
            data["more"] = self._tensor((1,), "uint8", False, 0)
        item = self.namespace.make_item(data)
        config = self.namespace.make_model_config(ROOMY)
        if cache_name == "processor-only":
            cache = self.namespace.MultiModalProcessorOnlyCache(config)
            cache.get_and_update_item((item, []), "kept")
            found = cache.get_and_update_item(None, "kept")[0]
        else:
            cache = self.namespace.LruKeyReplicatedReceiverCache(config)
            cache.get_and_update_item(item, "kept")
            found = cache.get_and_update_item(None, "kept")
        return memory_of(found["data"].data)

    def observe(self) -> Mapping[str, Any]:
        """Nothing: sizes have no state."""
        return {}

    def _build(self, value: model.Description) -> Any:
        match value:
            case model.Tensor(shape, dtype, is_view, fill):
                return self._tensor(shape, dtype, is_view, fill)
            case model.Array(shape, dtype, is_view, fill):
                whole = numpy.full((2, *shape) if is_view else shape, fill, dtype)
                return whole[0, ...] if is_view else whole
            case model.Plain(plain):
                return plain
            case model.Opaque(length):
                return range(length)
            case model.Sequence(members, is_tuple):
                built = [self._build(member) for member in members]
                return tuple(built) if is_tuple else built
            case model.Mapped(members):
                return {key: self._build(member) for key, member in members}
            case model.Item(members):
                return self.namespace.make_item({key: self._build(member) for key, member in members})
            case model.Items(members):
                return self.namespace.MultiModalKwargsItems(
                    {modality: [self._build(item) for item in items] for modality, items in members}
                )


def memory_of(data: Any) -> int:
    """Bytes of the memory that a tensor or an array keeps alive, or those in a list or a tuple."""
    if isinstance(data, list | tuple):
        return sum(map(memory_of, data))
    if hasattr(data, "untyped_storage"):
        return int(data.untyped_storage().nbytes())
    while isinstance(data.base, numpy.ndarray):
        data = data.base
    return int(data.nbytes)
