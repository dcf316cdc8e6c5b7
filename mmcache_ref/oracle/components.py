"""The components that can be judged, each bound to its model, its adapter and its strategies."""

from __future__ import annotations

from functools import partial

from mmcache_ref.model import factories, items, lru, processor_only, receiver, sender
from mmcache_ref.oracle import strategies
from mmcache_ref.oracle.adapters.factories import FactoriesAdapter
from mmcache_ref.oracle.adapters.items import ItemsAdapter
from mmcache_ref.oracle.adapters.lru import LruAdapter
from mmcache_ref.oracle.adapters.processor_cache import ProcessorCacheAdapter
from mmcache_ref.oracle.adapters.receiver import ReceiverAdapter
from mmcache_ref.oracle.component import Component

COMPONENTS = {
    component.name: component
    for component in (
        Component(items, ItemsAdapter, strategies.item_configs, strategies.item_operations),
        Component(lru, LruAdapter, strategies.lru_configs, strategies.lru_operations),
        Component(
            processor_only,
            partial(ProcessorCacheAdapter, cache_name="MultiModalProcessorOnlyCache"),
            strategies.processor_cache_configs,
            strategies.processor_cache_operations,
        ),
        Component(
            sender,
            partial(ProcessorCacheAdapter, cache_name="LruKeyReplicatedSenderCache"),
            strategies.processor_cache_configs,
            strategies.processor_cache_operations,
        ),
        Component(receiver, ReceiverAdapter, strategies.receiver_configs, strategies.receiver_operations),
        Component(factories, FactoriesAdapter, strategies.factory_configs, strategies.factory_operations),
    )
}
