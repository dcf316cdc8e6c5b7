"""The two families of caches inside their protocols, as far as a simulation has to tell them apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from mmcache_ref.model import accidents as lru_accidents
from mmcache_ref.model import drift, entries, key_replicated, shm_accidents, shm_caches
from mmcache_ref.model import shm_properties as shm
from mmcache_ref.model.component import Op, Outcome, tag
from mmcache_ref.model.explore import Property
from mmcache_ref.model.pair import Item
from mmcache_ref.model.recovery import is_quiet
from mmcache_ref.model.shm_counts import errors
from mmcache_ref.oracle.adapters.shm_units import UNIT
from mmcache_ref.oracle.choices import common
from mmcache_ref.oracle.choices import key_replicated as lru_choices
from mmcache_ref.oracle.choices import shm_caches as shm_choices

CAPACITY: Final = 12
"""Units of the ring in a simulation: a few items, so that it fills up."""
LIMIT: Final = 4
"""Units of the largest item in a simulation."""
PROMISED_WITHOUT: Final[Mapping[str, frozenset[str]]] = {
    "DR-06": frozenset(key_replicated.ACCIDENTS),
    "DR-07": frozenset(key_replicated.ACCIDENTS),
    "DR-10": frozenset({"new-content"}),
    "SC-32": frozenset(shm_caches.ACCIDENTS),
}
"""Clauses that promise nothing while one of these accidents may happen."""
LOOKUPS: Final = drift.UPDATES | drift.REFUSALS
"""What P0 looks up hashes in its cache for."""


Names = tuple[str, ...]


class Family(NamedTuple):
    """What a simulation has to know of a family of caches.

    Attributes:
        component: in which it is judged.
        model: the model of that.
        config: from accidents, protections and a number of workers to what is simulated.
        ending: from configuration and state to the operations that may bring to its end what is under way.
        lookups: from the states before and after an operation, it and its outcome, to hits and lookups.
        stored: bytes that are stored in a state.
        stranded: from configuration and state to the bytes of those that nothing will ever give back.
        moved: the counts of the protocol's work that are bytes on the move.
        properties: what users rely on.
    """

    component: str
    model: Any
    config: Callable[[Names, Names, int], Any]
    ending: Callable[[Any, Any], Iterator[Op]]
    lookups: Callable[[Any, Op, Outcome, Any], tuple[int, int]]
    stored: Callable[[Any], int]
    stranded: Callable[[Any, Any], int]
    moved: tuple[str, ...]
    properties: Mapping[str, Property]


def _lru_config(accidents: Names, protections: Names, workers: int) -> Any:
    """Three requests under way, a dozen bytes; each key has its own content where clients do not lie.

    One of the protections lives inside the caches, which have it or break a clause.
    """
    budget = common.LARGEST_BUDGET
    config = key_replicated.configure(accidents=accidents, protections=(*protections, "keep-touched"))
    happening = config.accidents
    if "content-identity" in config.protections:
        happening -= {"new-content"}
    return dataclasses.replace(
        config,
        budget=budget,
        requests=tuple([(_lru_item(key, budget),) for key in common.KEYS]),
        depth=lru_choices.DEPTH,
        clears=lru_choices.UNBOUNDED,
        accidents=happening,
    )


def _lru_item(key: str, budget: int) -> Item:
    """A key with its usual content."""
    return Item(key, lru_choices.usual(key, budget))


def _lru_ending(config: Any, state: Any) -> Iterator[Op]:
    yield lru_accidents.Update()
    yield key_replicated.Deliver()
    yield lru_accidents.FinishClear()
    yield key_replicated.HandleReport()
    yield key_replicated.SubmitAgain()


def _lru_lookups(before: Any, operation: Op, outcome: Outcome, after: Any) -> tuple[int, int]:
    if tag(operation) not in LOOKUPS or not isinstance(outcome.result, tuple):
        return 0, 0
    return outcome.result.count(None), len(outcome.result)


def _lru_stranded(config: Any, state: Any) -> int:
    """When nothing is under way: what P1 holds and P0 does not know of.   [DR-06]"""
    if not is_quiet(state):
        return 0
    sender, receiver = drift.counted(config, state)
    return sum(content.nbytes for key, content in receiver if key not in entries.keys(sender))


def _shm_config(accidents: Names, protections: Names, workers: int) -> Any:
    """Four requests under way, a dozen units."""
    config = shm_caches.configure(accidents=accidents, protections=protections)
    return dataclasses.replace(
        config, capacity=CAPACITY, limit=LIMIT, requests=(), workers=workers, depth=shm_choices.DEPTH
    )


def _shm_ending(config: Any, state: Any) -> Iterator[Op]:
    for worker in range(config.workers):
        yield shm_accidents.Read(0, worker)
    yield shm_accidents.Finish()
    yield shm_accidents.SubmitAgain()


def _shm_lookups(before: Any, operation: Op, outcome: Outcome, after: Any) -> tuple[int, int]:
    was, now = before.store, after.store
    return (now.hits - was.hits, now.total - was.total) if now.total > was.total else (0, 0)


def _shm_stored(state: Any) -> int:
    return sum(UNIT * int(chunk.size) for chunk in state.store.ring.chunks)


def _shm_stranded(config: Any, state: Any) -> int:
    """Chunks with acknowledgements that nobody will make.   [SC-35]"""
    sizes = [UNIT * int(chunk.size) for chunk in state.store.ring.chunks]
    return sum(size for size, error in zip(sizes, errors(state), strict=True) if error > 0)


FAMILIES: Final[Mapping[str, Family]] = {
    "lru": Family(
        "drift",
        key_replicated,
        _lru_config,
        _lru_ending,
        _lru_lookups,
        lambda state: entries.size(state.receiver),
        _lru_stranded,
        ("payload_bytes", "resent_bytes"),
        drift.PROPERTIES,
    ),
    "shm": Family(
        "shm-caches",
        shm_caches,
        _shm_config,
        _shm_ending,
        _shm_lookups,
        _shm_stored,
        _shm_stranded,
        ("stored_bytes", "inline_bytes", "copied_bytes"),
        shm.PROPERTIES,
    ),
}


def is_possible(config: Any, operation: Op) -> bool:
    """Whether the accidents that are switched on allow such a request."""
    request: Iterable[Any] | None = getattr(operation, "request", None)
    return request is None or config.needs(request) <= config.accidents


def promised(family: Family, config: Any) -> dict[str, Property]:
    """What a single run can show to be broken: properties of states and of steps, by name."""
    return {
        name: each
        for name, each in family.properties.items()
        if each.kind != "recovery" and not PROMISED_WITHOUT.get(each.clause, frozenset()) & config.accidents
    }
