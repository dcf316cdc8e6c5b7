"""What may happen to the shared-memory caches, and what stops it.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .environment import Accident, Protection, accident, known_names, spelled_out
from .shm_requests import Request, request

ACCIDENTS: Mapping[str, Accident] = {
    "abort": accident(
        "a request is taken out of the channel before all workers have read it", "release-on-abort"
    ),
    "clear-in-flight": accident("P0 is cleared while handles are under way", "drained-clear"),
    "fan-out": accident(
        "a request has several children, and each worker reads it for each", "one-acknowledgement"
    ),
    "forge": accident("a client makes a handle of its own"),
    "oversize": accident("an item is larger than the object limit or the ring"),
    "reject": accident("a request is refused after its update in P0 and never sent", "release-on-abort"),
    "replay": accident("a client sends a handle that it saw before, current or not", "validated-handle"),
    "resume": accident("a request is preempted, and every worker reads it again", "handle-until-done"),
    "strip": accident("what the prefix cache covers is taken out of a message", "keep-handles"),
    "worker-death": accident(
        "a worker dies with what is in its queue, and a new one takes its place",
        "clear-on-death",
        "recoverable-miss",
    ),
}

SYNONYMS: Mapping[str, tuple[str, ...]] = {"n2": ("fan-out",)}
"""A client asks for two samples with n=2, and knows the accident by that."""

PROTECTIONS: Mapping[str, Protection] = {
    "clear-on-death": Protection(
        "SC-44", "when a worker dies all requests under way end with a retryable miss, and P0 is cleared"
    ),
    "drained-clear": Protection("SC-41", "a clear waits until every handle under way is acknowledged"),
    "handle-until-done": Protection(
        "SC-40",
        "a worker keeps what it has read until the request is finished, and a resume is served from that",
    ),
    "keep-handles": Protection("SC-30", "a handle is never stripped"),
    "one-acknowledgement": Protection(
        "SC-39", "further children are served from what the first read of a worker brought"
    ),
    "recoverable-miss": Protection(
        "SC-42", "a worker that meets a handle whose chunk is gone reports a retryable miss and lives on"
    ),
    "release-on-abort": Protection(
        "SC-38", "a request that ends before every worker has read it is read all the same, and dropped"
    ),
    "validated-handle": Protection("SC-43", "a client's handle that P0 accepts takes a reference of its own"),
}

DEFAULT_PROTECTIONS = frozenset(PROTECTIONS)
"""What a protocol should have: all of them."""


@dataclass(frozen=True)
class Config:
    """What the search tries.

    `capacity` of the ring and `limit` of an item, in units; `requests`: what clients ask for; `workers`: how
    many read each message; `depth`: how many requests are under way at once. A request that only an accident
    makes possible is left out while that accident is off (see `needs`).
    """

    capacity: int
    limit: int
    requests: tuple[Request, ...]
    workers: int = 2
    depth: int = 2
    accidents: frozenset[str] = field(default=frozenset())
    protections: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        if min(self.capacity, self.limit, self.workers, self.depth) < 1:
            raise ValueError("capacity, limit, workers and depth are at least 1")
        known_names(self.accidents, ACCIDENTS, "accident")
        known_names(self.protections, PROTECTIONS, "protection")

    def needs(self, asked: Request) -> frozenset[str]:
        """The accidents without which no such request is made: `oversize`, when an item fits nowhere."""
        is_large = any(self.is_too_large(item.content.nbytes) for item in asked)
        return frozenset({"oversize"} if is_large else ())

    def is_too_large(self, units: int) -> bool:
        """Whether no item of this size is ever stored.   [SC-37]"""
        return units > self.limit or units > self.capacity

    @cached_property
    def possible_requests(self) -> tuple[Request, ...]:
        """The requests that the accidents allow."""
        return tuple([each for each in self.requests if self.needs(each) <= self.accidents])

    @cached_property
    def enabled(self) -> dict[Any, Any]:
        """The operations enabled in each shape of state, filled by a search as it goes."""
        return {}

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys that these requests name."""
        return tuple(sorted({item.key for each in self.possible_requests for item in each}))

    @cached_property
    def releases(self) -> bool:
        """What is refused or aborted after its update is read all the same.   [SC-38]"""
        return "release-on-abort" in self.protections

    @cached_property
    def acknowledges_once(self) -> bool:
        """Further children are served from the first read.   [SC-39]"""
        return "one-acknowledgement" in self.protections

    @cached_property
    def keeps_until_done(self) -> bool:
        """A resume is served from what was read.   [SC-40]"""
        return "handle-until-done" in self.protections

    @cached_property
    def drains(self) -> bool:
        """A clear waits for the handles under way.   [SC-41]"""
        return "drained-clear" in self.protections

    @cached_property
    def recovers(self) -> bool:
        """A worker lives on when a chunk is gone.   [SC-42]"""
        return "recoverable-miss" in self.protections

    @cached_property
    def keeps_handles(self) -> bool:
        """A handle is never stripped.   [SC-30]"""
        return "keep-handles" in self.protections

    @cached_property
    def references_validated(self) -> bool:
        """A client's handle takes a reference.   [SC-43]"""
        return "validated-handle" in self.protections

    @cached_property
    def clears_on_death(self) -> bool:
        """A dead worker ends everything under way, and the store is cleared.   [SC-44]"""
        return "clear-on-death" in self.protections


PRESETS: Mapping[str, Config] = {
    "tiny": Config(
        capacity=2,
        limit=3,
        requests=(request("a"), request("b:2"), request("a", supplied=False), request("d:3")),
    ),
    "small": Config(
        capacity=5,
        limit=2,
        requests=(
            request("a"),
            request("b:2"),
            request("c"),
            request("b:2", "a"),
            request("a", "c", "a"),
            request("c", supplied=False),
            request("d:3"),
        ),
        depth=3,
    ),
    "low-limit": Config(
        capacity=2,
        limit=1,
        requests=(request("a"), request("c"), request("e"), request("b:2")),
        depth=1,
    ),
}


def configure(
    preset: str = "tiny",
    *,
    accidents: Iterable[str] = (),
    protections: Iterable[str] = (),
    depth: int | None = None,
    clears: int | None = None,
) -> Config:
    """A preset with accidents and protections by name, and perhaps another depth.

    Accidents may be `all`, protections `default`; `n2` is `fan-out`. An unknown name is a `ValueError` that
    lists the known ones; so are `clears`, which need no bound here.
    """
    known_names([preset], PRESETS, "preset")
    if clears is not None:
        raise ValueError("shm-caches counts no clears: leave the bound on clears away")
    base = PRESETS[preset]
    return replace(
        base,
        depth=base.depth if depth is None else depth,
        accidents=spelled_out(accidents, ACCIDENTS, "accident", {"all": ACCIDENTS, **SYNONYMS}),
        protections=spelled_out(protections, PROTECTIONS, "protection", {"default": DEFAULT_PROTECTIONS}),
    )
