"""The receiver of a target, driven by the operations of `model/receiver.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmcache_ref.model import receiver as model
from mmcache_ref.model.component import Missed
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected, need, observe_inner, raised

CLASS = "LruKeyReplicatedReceiverCache"


class ReceiverAdapter:
    """P1's cache with the inputs of P1: items or None, and features."""

    def __init__(self, namespace: Any, config: model.Config) -> None:
        need(namespace, CLASS)
        self.payloads = Payloads(namespace)
        self.namespace = namespace
        self.cache = getattr(namespace, CLASS)(namespace.make_model_config(config.budget))

    def perform(self, operation: model.Operation) -> Any:
        """One call of the cache."""
        match operation:
            case model.Touch(key):
                return self.cache.touch_receiver_cache_item(key)
            case model.Update(key, content):
                given = None if content is None else self.payloads.item(content)
                return received(self.payloads, given, self.cache.get_and_update_item(given, key))
            case model.Features(features):
                return ingest(self.namespace, self.payloads, self.cache, features)
            case model.Clear():
                return self.cache.clear_cache()

    def observe(self) -> Mapping[str, Any]:
        """Order and bytes where the cache is an LRU like upstream's."""
        return observe_inner(self.cache)


def received(payloads: Payloads, given: Any, out: Any) -> Any:
    """What an update in P1 returned, in canonical form."""
    content = payloads.content(out)
    if content is None or isinstance(content, Unexpected):
        return content
    return model.Received(content, is_input=given is not None and out is given)


def ingest(namespace: Any, payloads: Payloads, cache: Any, features: Sequence[model.Feature]) -> Any:
    """`get_and_update_features` on fresh features; what each holds afterwards.   [IF-14, IF-15, IF-16]"""
    given = [None if f.content is None else payloads.item(f.content) for f in features]
    built = [
        make_feature(namespace, item, feature, index)
        for index, (item, feature) in enumerate(zip(given, features, strict=True))
    ]
    missed: tuple[str, ...] = ()
    try:
        returned = cache.get_and_update_features(built)
    except RuntimeError as error:
        result = raised(error)
        if not isinstance(result, Missed):
            raise
        if not result.hashes:
            return result
        missed = result.hashes
    else:
        if returned is not built:
            return Unexpected("another list than the one that was given")
    items = [received(payloads, item, feature.data) for item, feature in zip(given, built, strict=True)]
    for item in items:
        if isinstance(item, Unexpected):
            return item
    return model.Ingested(tuple(items), missed)


def make_feature(namespace: Any, item: Any, feature: model.Feature, index: int) -> Any:
    """A feature of the target; with an `mm_hash`, its identifier is another string.   [IT-10]"""
    if feature.has_mm_hash:
        made = namespace.make_feature(item, "image", feature.key, index)
        made.identifier = f"adapter:{feature.key}"
        return made
    made = namespace.make_feature(item, "image", feature.key, index)
    made.mm_hash = None
    return made
