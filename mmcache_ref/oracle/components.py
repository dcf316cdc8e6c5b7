"""The components that can be judged, each bound to its model, its adapter and its strategies."""

from __future__ import annotations

from functools import partial

from mmcache_ref.model import factories, items, key_replicated, lru, processor_only, receiver, sender
from mmcache_ref.model.environment import Config, request
from mmcache_ref.oracle import choices, strategies
from mmcache_ref.oracle.adapters.factories import FactoriesAdapter
from mmcache_ref.oracle.adapters.items import ItemsAdapter
from mmcache_ref.oracle.adapters.key_replicated import KeyReplicatedAdapter
from mmcache_ref.oracle.adapters.lru import LruAdapter
from mmcache_ref.oracle.adapters.processor_cache import ProcessorCacheAdapter
from mmcache_ref.oracle.adapters.receiver import ReceiverAdapter
from mmcache_ref.oracle.component import Component
from mmcache_ref.oracle.draws import drawn

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
        Component(items, ItemsAdapter, choices.items.configs, choices.items.choose),
        Component(lru, LruAdapter, choices.lru.configs, choices.lru.choose, construction="LRU-03"),
        Component(
            processor_only,
            partial(ProcessorCacheAdapter, cache_name="MultiModalProcessorOnlyCache"),
            choices.processor_cache.configs,
            choices.processor_cache.choose,
            construction="FA-11",
        ),
        Component(
            sender,
            partial(ProcessorCacheAdapter, cache_name="LruKeyReplicatedSenderCache"),
            choices.processor_cache.configs,
            choices.processor_cache.choose,
            construction="FA-11",
        ),
        Component(
            receiver,
            ReceiverAdapter,
            choices.receiver.configs,
            choices.receiver.choose,
            construction="FA-11",
        ),
        Component(
            key_replicated,
            KeyReplicatedAdapter,
            strategies.system_configs,
            drawn(strategies.system_operations),
            tiny=EXECUTED_PAIR,
            unreachable=OUTSIDE_THE_CACHES,
            construction="FA-11",
        ),
        Component(factories, FactoriesAdapter, choices.factories.configs, choices.factories.choose),
    )
}
