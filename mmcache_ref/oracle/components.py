"""The components that can be judged, each bound to its model, its adapter and its strategies."""

from __future__ import annotations

from functools import partial

from mmcache_ref.model import (
    factories,
    items,
    key_replicated,
    lru,
    object_store,
    processor_only,
    receiver,
    ring_buffer,
    sender,
    shm_caches,
    shm_pair,
)
from mmcache_ref.model.environment import ACCIDENTS, DEFAULT_PROTECTIONS, Config, request
from mmcache_ref.oracle import choices
from mmcache_ref.oracle.adapters import key_replicated as key_replicated_adapter
from mmcache_ref.oracle.adapters import shm_caches as shm_caches_adapter
from mmcache_ref.oracle.adapters.factories import FactoriesAdapter
from mmcache_ref.oracle.adapters.items import ItemsAdapter
from mmcache_ref.oracle.adapters.key_replicated import KeyReplicatedAdapter
from mmcache_ref.oracle.adapters.lru import LruAdapter
from mmcache_ref.oracle.adapters.object_store import ObjectStoreAdapter
from mmcache_ref.oracle.adapters.processor_cache import ProcessorCacheAdapter
from mmcache_ref.oracle.adapters.receiver import ReceiverAdapter
from mmcache_ref.oracle.adapters.ring_buffer import RingBufferAdapter
from mmcache_ref.oracle.adapters.shm_caches import ShmCachesAdapter
from mmcache_ref.oracle.adapters.shm_pair import ShmPairAdapter
from mmcache_ref.oracle.component import NOT_EMPTY_CLAUSE, Component

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
        "awaits-clear",
        "deferred",
        "handle-report: cleared",
        "held-back",
        "ignored",
        "lose-report: cleared",
        "lose-report: invalidated",
        "lose-report: outdated",
        "outdated",
        "p0-asserted",
        "rolled-back",
        "sent-again",
        "set-aside",
        "still-ingested",
        "unrecorded",
        "unshared",
    }
)
"""Cases of protections that live in the protocol around the caches, or of a pair without KR-13."""

EXECUTED_PROTOCOL = Config(
    budget=2,
    requests=(
        request("a"),
        request("c", "b", "a", modality={"c": "video"}),
        request("a", supplied=False),
    ),
    depth=2,
    accidents=frozenset(ACCIDENTS),
    protections=DEFAULT_PROTECTIONS,
)
"""A graph of the protocol with everything that may happen to it, two requests under way."""

OUTSIDE_THE_PROTOCOL = frozenset({"asserted", "p0-asserted"})
"""Cases of a protocol without a protection that never is left out."""

TWO_READERS = object_store.Config(
    capacity=32, max_object_size=24, readers=2, keys=("a", "b"), sizes=(1,), puts=2, held=1
)
"""A store with room for one object, which two readers have to acknowledge."""

ROUND_AND_ROUND = object_store.Config(
    capacity=3 * choices.object_store.SMALLEST,
    max_object_size=choices.object_store.SMALLEST - object_store.HEADER + 1,
    id_max=4,
    keys=("a", "b", "c", "d", "e"),
    sizes=(1, 2),
    puts=6,
    only_puts_and_reads=True,
)
"""A ring with room for three objects, filled twice: what is freed lies at both ends, and ids wrap."""

COMPONENTS = {
    component.name: component
    for component in (
        Component(items, ItemsAdapter, choices.items.configs, choices.items.choose),
        Component(
            lru,
            LruAdapter,
            choices.lru.configs,
            choices.lru.choose,
            hanging="LRU-18",
            construction="LRU-03",
            blames=frozenset({NOT_EMPTY_CLAUSE}),
        ),
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
            choices.key_replicated.unprotected,
            choices.key_replicated.choose,
            caches=("sender", "receiver"),
            tiny=EXECUTED_PAIR,
            walked=(key_replicated.PRESETS["tiny"],),
            unreachable=OUTSIDE_THE_CACHES,
            construction="FA-11",
        ),
        Component(
            key_replicated,
            KeyReplicatedAdapter,
            choices.key_replicated.protected,
            choices.key_replicated.choose,
            label="drift",
            caches=("sender", "receiver"),
            tiny=EXECUTED_PROTOCOL,
            unreachable=OUTSIDE_THE_PROTOCOL,
            construction="FA-11",
            protocol=frozenset(key_replicated_adapter.PARTS.values()),
            blames=frozenset({"DR-05", "DR-08", "DR-16", "DR-23"}),
        ),
        Component(
            ring_buffer,
            RingBufferAdapter,
            choices.ring_buffer.configs,
            choices.ring_buffer.choose,
            construction="RB-01",
            blames=frozenset({"RB-18"}),
        ),
        Component(
            object_store,
            ObjectStoreAdapter,
            choices.object_store.configs,
            choices.object_store.choose,
            beside=(TWO_READERS, ROUND_AND_ROUND),
            construction="OS-34",
        ),
        Component(
            shm_pair,
            ShmPairAdapter,
            choices.shm_pair.configs,
            choices.shm_pair.choose,
            construction="SC-01",
            blames=frozenset({"IF-06", "SC-06", "SC-10"}),
        ),
        Component(
            shm_caches,
            ShmCachesAdapter,
            choices.shm_caches.configs,
            choices.shm_caches.choose,
            tiny=choices.shm_caches.EXECUTED,
            beside=(choices.shm_caches.BROKEN_OFF, choices.shm_caches.RESUMED),
            walked=(shm_caches.PRESETS["tiny"],),
            construction="SC-01",
            protocol=frozenset(shm_caches_adapter.PARTS.values()),
            blames=frozenset({"SC-06", "SC-10", "SC-15", "SC-18", "SC-22", "SC-25", "SC-29", "SC-32"}),
        ),
        Component(factories, FactoriesAdapter, choices.factories.configs, choices.factories.choose),
    )
}
