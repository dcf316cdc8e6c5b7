"""How each process of a deployment makes the caches of a target, and what it lets others see."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from mmcache_ref import protocol
from mmcache_ref.model.component import Content
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import Payloads, array_of, observe_inner
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_units import HEADER, UNIT, Lengths, Segment, UnitPayloads
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import PairParts, Recipe, SharedParts

CHUNKS: Final = "chunks"
INNER: Final = "inner"
"""What others see of a side of a pair: the LRU in its cache."""
ARRAY_ITEMS: Final = re.compile(r"mmcache_ref(_with_\w+)?\.reference\.")
"""The modules whose items are known to hold arrays as well as tensors: the reference's, and those of a copy
with a fault in it."""
NOTED: Final = "noted"
"""What others see of P0: its chunks, and the contents whose prompt updates the last merge step returned. They
are told once."""


def payloads_of(namespace: Any) -> UnitPayloads:
    """Arrays where the items are the reference's: to import torch takes ten times as long as all else."""
    takes_arrays = ARRAY_ITEMS.match(namespace.MultiModalKwargsItem.__module__)
    return UnitPayloads(namespace, Payloads(namespace, array_of) if takes_arrays else None)


class Store(NamedTuple):
    """Caches in shared memory, for the processes that make them: capacity and limit in units, how many read,
    and how long payloads are, which they do not measure again."""

    capacity: int
    limit: int
    workers: int
    lengths: Lengths


def store_recipe(
    make: Callable[..., SharedParts], namespace: Any, capacity: int, limit: int, workers: int, *more: Any
) -> Recipe:
    """Has `make(lock, segment_name, target, store, *more)` called in each process."""
    store = Store(capacity, limit, workers, payloads_of(namespace).measured(max(capacity, limit) + 2))
    return Recipe(
        make, (target_of(namespace), store, *more), fresh_name=segments.fresh_name, remove=segments.remove
    )


class MadeShared(NamedTuple):
    """The caches in shared memory of a target, by its own classes of the protocol where it has any.

    Attributes:
        payloads: what items are made of.
        noted: the prompt updates that the last merge step returned.
    """

    parts: SharedParts
    payloads: UnitPayloads
    noted: list[Any]

    def noted_contents(self) -> tuple[Any, ...]:
        """Of these the contents; they are told once."""
        contents = tuple([self.payloads.payloads.updates_content(each) for each in self.noted])
        self.noted.clear()
        return contents


def made_shared(lock: Any, segment_name: str, namespace: Any, store: Store) -> MadeShared:
    """The caches of a target on a segment, in one of its processes."""
    payloads = payloads_of(namespace)
    payloads.know(store.lengths)
    segment = Segment(
        namespace,
        capacity=store.capacity * UNIT,
        limit=store.limit * UNIT - HEADER,
        workers=store.workers,
        lock=lock,
        name=segment_name,
    )
    noted: list[Any] = []
    parts = SharedParts(
        shared_implementation(namespace, payloads, segment, store.workers, noted),
        getattr(namespace, "SharedFrontEnd", protocol.SharedFrontEnd),
        getattr(namespace, "SharedWorker", protocol.SharedWorker),
    )
    return MadeShared(parts, payloads, noted)


class MadePair(NamedTuple):
    """The key-replicated pair of a target, by its own classes of the protocol where it has any."""

    parts: PairParts
    payloads: Payloads


def made_pair(namespace: Any, budget: int) -> MadePair:
    """The pair of a target, in one of its processes; the budget in bytes."""
    payloads = payloads_of(namespace).payloads
    parts = PairParts(
        pair_implementation(namespace, payloads, budget, lambda: None),
        getattr(namespace, "FrontEnd", protocol.FrontEnd),
        getattr(namespace, "Engine", protocol.Engine),
    )
    return MadePair(parts, payloads)


def shared_recipe(namespace: Any, capacity: int, limit: int, workers: int) -> Recipe:
    """The caches in shared memory of a target; capacity and limit in units."""
    return store_recipe(shared_parts, namespace, capacity, limit, workers)


def shared_parts(lock: Any, segment_name: str, target: str, store: Store) -> SharedParts:
    """The caches in shared memory of a target, in one of its processes."""
    made = made_shared(lock, segment_name, resolve(target), store)

    def observe(cache: Any) -> Mapping[str, Any]:
        return {NOTED: made.noted_contents(), CHUNKS: observe_chunks(getattr(cache, "_shm_cache", None))}

    return replace(made.parts, observe=observe)


def shared_implementation(
    namespace: Any, payloads: UnitPayloads, segment: Segment, workers: int, noted: list[Any]
) -> protocol.SharedImplementation:
    """The target's caches on a segment, with payloads made of descriptions.

    `noted` gets the prompt updates that a merge step returns.
    """

    def merge(sender: Any, hashes: Any, hits: Any, items: Any, updates: Any) -> Any:
        made = namespace.MultiModalKwargsItems(items)
        merged, merged_updates = namespace.merge_mm_kwargs(sender, hashes, hits, made, updates)
        noted[:] = [each for group in hashes for each in merged_updates[group]]
        return merged, merged_updates

    def process(content: Content, *_: Any) -> tuple[Any, list[Any]]:
        return payloads.processed(content)

    return protocol.SharedImplementation(
        workers=workers,
        make_sender=segment.make_sender,
        make_receiver=segment.make_receiver,
        merge=merge,
        make_feature=namespace.make_feature,
        process=process,
        size=payloads.bytes_of,
    )


def pair_recipe(namespace: Any, budget: int) -> Recipe:
    """The key-replicated pair of a target; the budget in bytes."""
    return Recipe(pair_parts, (target_of(namespace), budget))


def pair_parts(lock: Any, segment: str, target: str, budget: int) -> PairParts:
    """The key-replicated pair of a target, in one of its processes."""

    def observe(cache: Any) -> Mapping[str, Any]:
        return {INNER: observe_inner(cache)}

    return replace(made_pair(resolve(target), budget).parts, observe=observe)


def pair_implementation(
    namespace: Any, payloads: Payloads, budget: int, note_processed: Callable[[], None]
) -> protocol.Implementation:
    """The target's pair, with payloads made of descriptions; `note_processed` hears of each that is made."""
    model_config = namespace.make_model_config(budget)

    def merge(sender: Any, hashes: Any, hits: Any, items: Any, updates: Any) -> Any:
        for modality, made in items.items():
            named = [payloads.updates_content(each) for each in updates[modality]]
            if named != [payloads.content(item) for item in made]:
                raise ValueError("an item was given the prompt updates of another to the merge step")
        return namespace.merge_mm_kwargs(
            sender, hashes, hits, namespace.MultiModalKwargsItems(items), updates
        )

    def process(content: Content, modality: str, index: int) -> tuple[Any, Sequence[Any]]:
        note_processed()
        return payloads.processed(content, modality, index)

    def size(item: Any) -> int:
        content = payloads.content(item)
        return content.nbytes if isinstance(content, Content) else 0

    return protocol.Implementation(
        make_sender=partial(namespace.LruKeyReplicatedSenderCache, model_config),
        make_receiver=partial(namespace.LruKeyReplicatedReceiverCache, model_config),
        merge=merge,
        make_feature=namespace.make_feature,
        process=process,
        size=size,
    )


def target_of(namespace: Any) -> str:
    """By which name other processes resolve this target; `NotOffered` where there is none."""
    target: str = getattr(namespace, "target", "")
    if not target:
        raise NotOffered(f"{namespace.label} has no name by which another process could find it")
    return target
