"""The components that can be judged, each bound to its model, its adapter and its strategies."""

from __future__ import annotations

from functools import partial

from mmcache_ref.model import factories, items, key_replicated, lru, processor_only, receiver, sender
from mmcache_ref.model.environment import Config, request
from mmcache_ref.oracle import strategies
from mmcache_ref.oracle.adapters.factories import FactoriesAdapter
from mmcache_ref.oracle.adapters.items import ItemsAdapter
from mmcache_ref.oracle.adapters.key_replicated import KeyReplicatedAdapter
from mmcache_ref.oracle.adapters.lru import LruAdapter
from mmcache_ref.oracle.adapters.processor_cache import ProcessorCacheAdapter
from mmcache_ref.oracle.adapters.receiver import ReceiverAdapter
from mmcache_ref.oracle.component import Component

EXECUTED_PAIR = Config(
    budget=2,
    requests=(
        request("a"),
        request("b", "c"),
        request("b", "c", "a"),
        request("a:2:1"),
        request("d:3"),
        request("a", supplied=False),
    ),
    depth=1,
    accidents=frozenset({"oversize", "new-content", "reject", "clear-p1"}),
    protections=frozenset({"keep-touched"}),
)
"""A graph of the pair that is executed in seconds: one request under way, and two sides that may differ."""

OUTSIDE_THE_CACHES = frozenset(
    {
        "asserted",
        "handle-report: cleared",
        "ignored",
        "outdated",
        "rolled-back",
        "set-aside",
        "still-ingested",
        "unrecorded",
    }
)
"""Cases of protections that live in the protocol around the caches, or of a pair without KR-13."""

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
        Component(
            key_replicated,
            KeyReplicatedAdapter,
            strategies.system_configs,
            strategies.system_operations,
            tiny=EXECUTED_PAIR,
            unreachable=OUTSIDE_THE_CACHES,
        ),
        Component(factories, FactoriesAdapter, strategies.factory_configs, strategies.factory_operations),
    )
}
