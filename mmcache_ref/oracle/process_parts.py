"""How each process of a deployment makes the caches of a target, and what it lets others see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref import protocol
from mmcache_ref.model.component import Content
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_units import HEADER, UNIT, Lengths, Segment, UnitPayloads
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import Recipe, SharedParts

CHUNKS: Final = "chunks"
NOTED: Final = "noted"
"""What others see of P0: its chunks, and the contents whose prompt updates the last merge step returned. They
are told once."""


def shared_recipe(namespace: Any, capacity: int, limit: int, workers: int) -> Recipe:
    """The caches in shared memory of a target; capacity and limit in units.

    The processes do not measure again what is measured here.
    """
    lengths = UnitPayloads(namespace).measured(max(capacity, limit) + 2)
    return Recipe(
        shared_parts,
        (namespace.label, capacity, limit, workers, lengths),
        fresh_name=segments.fresh_name,
        remove=segments.remove,
    )


def shared_parts(
    lock: Any, segment_name: str, target: str, capacity: int, limit: int, workers: int, lengths: Lengths
) -> SharedParts:
    """The caches in shared memory of a target, in one of its processes."""
    namespace = resolve(target)
    payloads = UnitPayloads(namespace)
    payloads.know(lengths)
    segment = Segment(
        namespace,
        capacity=capacity * UNIT,
        limit=limit * UNIT - HEADER,
        workers=workers,
        lock=lock,
        name=segment_name,
    )
    noted: list[Any] = []

    def observe(cache: Any) -> Mapping[str, Any]:
        contents = tuple([payloads.payloads.updates_content(each) for each in noted])
        noted.clear()
        return {NOTED: contents, CHUNKS: observe_chunks(getattr(cache, "_shm_cache", None))}

    return SharedParts(
        shared_implementation(namespace, payloads, segment, workers, noted),
        getattr(namespace, "SharedFrontEnd", protocol.SharedFrontEnd),
        getattr(namespace, "SharedWorker", protocol.SharedWorker),
        observe=observe,
    )


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
        return payloads.item(content), payloads.prompt_updates(content)

    return protocol.SharedImplementation(
        workers=workers,
        make_sender=segment.make_sender,
        make_receiver=segment.make_receiver,
        merge=merge,
        make_feature=namespace.make_feature,
        process=process,
        size=payloads.bytes_of,
    )
