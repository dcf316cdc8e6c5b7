"""The caches of a target in processes under load: items of one size, made before they are needed."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from typing import Any

from mmcache_ref import protocol
from mmcache_ref.model.component import Content
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import Payloads
from mmcache_ref.oracle.adapters.shm_units import Segment
from mmcache_ref.oracle.bench_worker import OVERHEAD, set_torch_threads
from mmcache_ref.oracle.process_parts import pair_implementation
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import PairParts, Recipe, SharedParts


def shared_load_recipe(target: str, entries: int, size: int, workers: int) -> Recipe:
    """The caches in shared memory, with room for so many items."""
    arguments = target, entries, size, workers
    return Recipe(shared_load, arguments, fresh_name=segments.fresh_name, remove=segments.remove)


def shared_load(
    lock: Any, segment_name: str, target: str, entries: int, size: int, workers: int
) -> SharedParts:
    """The caches in shared memory, in one of their processes; nobody is told the items that were read."""
    namespace = resolve(target)
    chunk = size + OVERHEAD
    segment = Segment(
        namespace, capacity=entries * chunk, limit=chunk, workers=workers, lock=lock, name=segment_name
    )
    implementation = protocol.SharedImplementation(
        workers=workers,
        make_sender=segment.make_sender,
        make_receiver=segment.make_receiver,
        merge=_merge(namespace),
        make_feature=namespace.make_feature,
        process=_process(namespace, size),
        size=lambda content: content.nbytes,
    )
    return SharedParts(
        implementation,
        getattr(namespace, "SharedFrontEnd", protocol.SharedFrontEnd),
        getattr(namespace, "SharedWorker", protocol.SharedWorker),
        describe=_untold,
    )


def pair_load_recipe(target: str, entries: int, size: int) -> Recipe:
    """The key-replicated pair, with room for so many items."""
    return Recipe(pair_load, (target, entries, size))


def pair_load(lock: Any, segment: str, target: str, entries: int, size: int) -> PairParts:
    """The key-replicated pair, in one of its processes; nobody is told the items that were served."""
    namespace = resolve(target)
    implementation = dataclasses.replace(
        pair_implementation(namespace, Payloads(namespace), entries * size, lambda: None),
        merge=_merge(namespace),
        process=_process(namespace, size),
        size=lambda item: size,
    )
    return PairParts(
        implementation,
        getattr(namespace, "FrontEnd", protocol.FrontEnd),
        getattr(namespace, "Engine", protocol.Engine),
        describe=_untold,
    )


def _untold(item: Any) -> None:
    return


def _merge(namespace: Any) -> Callable[..., Any]:
    def merge(sender: Any, hashes: Any, hits: Any, items: Any, updates: Any) -> Any:
        return namespace.merge_mm_kwargs(
            sender, hashes, hits, namespace.MultiModalKwargsItems(items), updates
        )

    return merge


def _process(namespace: Any, size: int) -> Callable[..., Any]:
    """A processor that costs nothing: it has one item, and gives it for all data.

    PyTorch copies with one thread, as in vLLM's workers: more would be in each other's way. What is there now
    is looked at by no collection of garbage, also as there: each would take as long as many requests.
    """
    set_torch_threads(1)
    made = Payloads(namespace).processed(Content(size, 1))
    gc.collect()
    gc.freeze()

    def process(*_: Any) -> Any:
        return made

    return process
