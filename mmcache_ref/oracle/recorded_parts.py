"""The caches of a target as its processes make them, when each writes an event log and is looked into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mmcache_ref.oracle.adapters.base import observe_inner, read
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_units import UNIT
from mmcache_ref.oracle.numbered_lock import Locks
from mmcache_ref.oracle.process_log import PairRecorder, SharedRecorder
from mmcache_ref.oracle.process_parts import Store, made_pair, made_shared, store_recipe, target_of
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import Occasion, PairParts, Recipe, SharedParts

LOOKUPS: Final = "lookups"
"""Hits and lookups of a cache since it was made, also those from before a clear."""
PEAK: Final = "peak"
"""The most bytes that it ever held."""
HELD: Final = "held"
"""The keys that it holds, as far as it lets them be seen."""
WAITING: Final = "waiting"
"""Of each chunk of a store its bytes, and how many acknowledgements are still to come."""


class Tally:
    """What is counted of a cache while it is at work, besides what its process writes down."""

    def __init__(self) -> None:
        self.lookups = (0, 0)
        self.peak = 0
        self._told = (0, 0)

    def look(self, cache: Any, held: int) -> None:
        """After each call: statistics begin anew with a clear, and are added up here."""
        self.peak = max(self.peak, held)
        if not hasattr(cache, "make_stats"):
            return
        hits, total = cache.make_stats()
        before = self._told if total >= self._told[1] else (0, 0)
        self.lookups = (self.lookups[0] + hits - before[0], self.lookups[1] + total - before[1])
        self._told = (hits, total)


def recorded_shared_recipe(
    namespace: Any, capacity: int, limit: int, workers: int, folder: str, *, sends_rejected: bool
) -> Recipe:
    """The caches in shared memory; capacity and limit in units. Events go into this folder."""
    return store_recipe(recorded_shared_parts, namespace, capacity, limit, workers, folder, sends_rejected)


def recorded_shared_parts(
    locks: Locks, segment_name: str, target: str, store: Store, folder: str, sends_rejected: bool
) -> SharedParts:
    """In its process: P0 or a worker of the caches in shared memory."""
    made = made_shared(locks.readers, segment_name, resolve(target), store)
    tally = Tally()

    def chunks(cache: Any) -> Mapping[str, Any]:
        return observe_chunks(getattr(cache, "_shm_cache", None))

    def keys(cache: Any) -> tuple[str, ...] | None:
        found = chunks(cache).get("keys")
        return tuple(map(str, found)) if isinstance(found, tuple) else None

    recorder = SharedRecorder(
        folder,
        sends_rejected=sends_rejected,
        noted=made.noted_contents,
        keys=keys,
        number=locks.log.number,
    )

    def record(part: Any, occasion: Occasion, arguments: tuple[Any, ...], outcome: Any) -> None:
        recorder(part, occasion, arguments, outcome)
        if occasion.did != "read":
            tally.look(part.cache(), _stored(chunks(part.cache())))

    def observe(cache: Any) -> Mapping[str, Any]:
        return {LOOKUPS: tally.lookups, PEAK: tally.peak, WAITING: _waiting(chunks(cache), store.workers)}

    return replace(
        made.parts,
        describe=made.payloads.content,
        observe=observe,
        recorder=record,
        begins=recorder.begins,
    )


def _stored(seen: Mapping[str, Any]) -> int:
    """Bytes of all chunks."""
    layout = seen.get("layout")
    return sum(int(size * UNIT) for _, size in layout) if isinstance(layout, tuple) else 0


def _waiting(seen: Mapping[str, Any], workers: int) -> list[tuple[int, int]]:
    """Of each chunk its bytes, and how many acknowledgements are still to come; fewer than none where it was
    acknowledged more often than there are references to it."""
    try:
        return [
            (int(size * UNIT), references * workers - count)
            for (_, size), references, count in zip(
                seen["layout"], seen["references"], seen["counts"], strict=True
            )
        ]
    except (KeyError, TypeError, ValueError):
        return []


def recorded_pair_recipe(namespace: Any, budget: int, folder: str) -> Recipe:
    """The key-replicated pair; the budget in bytes. Events go into this folder."""
    return Recipe(recorded_pair_parts, (target_of(namespace), budget, folder))


def recorded_pair_parts(locks: Locks, segment: str, target: str, budget: int, folder: str) -> PairParts:
    """In its process: P0 or P1 of a key-replicated pair."""
    made = made_pair(resolve(target), budget)
    tally = Tally()

    def keys(cache: Any) -> tuple[str, ...] | None:
        order = read(lambda: observe_inner(cache).get("order"))
        return tuple(map(str, order)) if isinstance(order, tuple) else None

    recorder = PairRecorder(folder, keys=keys, content=made.payloads.content)

    def record(part: Any, occasion: Occasion, arguments: tuple[Any, ...], outcome: Any) -> None:
        recorder(part, occasion, arguments, outcome)
        held = observe_inner(part.cache()).get("bytes", 0)
        tally.look(part.cache(), held if isinstance(held, int) else 0)

    def observe(cache: Any) -> Mapping[str, Any]:
        return {LOOKUPS: tally.lookups, PEAK: tally.peak, HELD: _held(cache)}

    return replace(made.parts, describe=made.payloads.content, observe=observe, recorder=record)


def _held(cache: Any) -> dict[str, int]:
    """Key to bytes of what an LRU like upstream's holds."""
    inner = getattr(cache, "_cache", None)
    sizes = read(lambda: {str(key): int(inner.getsizeof(value)) for key, value in inner.cache.items()})  # type: ignore[union-attr]
    return sizes if isinstance(sizes, dict) else {}
