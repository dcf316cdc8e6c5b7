"""The caches of a target inside their protocol, with its threads, and the model of both.

What P0 and a worker do outside the store and the ring is one step here: they meet where they share the
segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mmcache_ref.model import shm_accidents, shm_caches
from mmcache_ref.model.component import Outcome, tag
from mmcache_ref.model.shm_environment import DEFAULT_PROTECTIONS, Config
from mmcache_ref.oracle.adapters.shm_caches import ShmCachesAdapter
from mmcache_ref.oracle.adapters.shm_units import UnitPayloads
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.scenario import AnyCall, ProtocolScenario
from mmcache_ref.oracle.interleaving.subject import Done, Order, Played, World
from mmcache_ref.oracle.interleaving.tracing import paths_of
from mmcache_ref.oracle.interleaving.worlds import check_set_up, memory_of, performed, prepared

MOST_UNDER_WAY: Final = 8
"""Requests: more than any scenario has."""


class SharedCaches(ShmCachesAdapter):
    """P0 and its workers over one lock that obeys the scheduler."""

    def __init__(self, namespace: Any, config: Config, payloads: UnitPayloads) -> None:
        self.lock = CooperativeLock()
        super().__init__(namespace, config, lock=self.lock, payloads=payloads)

    @property
    def _store(self) -> Any:
        store = getattr(self.deployment.front_end.sender, "_shm_cache", None)
        if store is None:
            raise NotOffered("the target's sender does not show its store")
        return store

    @property
    def paths(self) -> set[str]:
        """The files in which the target's store and ring are written."""
        return paths_of(type(self._store), type(self._store.ring_buffer))

    @property
    def memory(self) -> Callable[[], bytes] | None:
        """The bytes of the segment; None where the ring does not show its memory."""
        return memory_of(self._store.ring_buffer)

    def is_ready(self, call: AnyCall) -> bool:
        """Is there the message that is to be read or aborted, or the request that is to be resumed?"""
        match call.operation:
            case shm_accidents.Read(position) | shm_accidents.Abort(position):
                return position < len(self.deployment.channel)
            case shm_accidents.Resume(position):
                return position < len(self.deployment.running)
        return True

    def call(self, call: AnyCall) -> Any:
        """Do what the call says; what the caller saw."""
        return performed(self, call.operation)

    def tidy_up(self) -> object:
        """Remove everything."""
        return self.close()


class ProtocolSubject:
    """A scenario of the caches in shared memory and their protocol."""

    aspects = shm_caches.ASPECTS

    def __init__(self, scenario: ProtocolScenario) -> None:
        self.scenario = scenario
        self._payloads: UnitPayloads | None = None
        self._config = Config(
            scenario.capacity,
            scenario.limit,
            requests=(),
            workers=scenario.workers,
            depth=MOST_UNDER_WAY,
            accidents=frozenset(
                {"clear-in-flight", "abort", "reject", "replay", "resume", "fan-out", "worker-death"}
            ),
            protections=DEFAULT_PROTECTIONS - set(scenario.without),
        )

    def make(self, namespace: Any) -> World:
        """A deployment after the set-up."""
        self._payloads = self._payloads or UnitPayloads(namespace)
        return prepared(SharedCaches(namespace, self._config, self._payloads), self._set_up)

    def initial(self) -> shm_caches.State:
        """The state of the model after the set-up."""
        return self._set_up(None)

    def _set_up(self, world: SharedCaches | None) -> shm_caches.State:
        state = shm_caches.initial(self._config)
        for operation in self.scenario.setup:
            state, outcome = shm_caches.step(self._config, state, operation)
            if world is not None:
                check_set_up(operation, outcome, world.perform(operation))
        return state

    def step(self, state: shm_caches.State, call: Any) -> tuple[shm_caches.State, Outcome]:
        """The model's step for a call."""
        return shm_caches.step(self._config, state, call.operation)

    def observe(self, state: shm_caches.State) -> Mapping[str, Any]:
        """The aspects of a state."""
        return shm_caches.observe(self._config, state)

    def clause_of_result(self, played: Played, done: Done, outcome: Outcome) -> str:
        """The clause that a wrong result breaks: of an accident that meets a worker, or the usual."""
        if accident := self._clause_of_accident(played):
            return accident
        return shm_caches.RULES[tag(done.call.operation), outcome.kind].outcome

    def clause_of_rest(self, played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
        """The clause that is broken when an aspect of what was left is wrong."""
        if accident := self._clause_of_accident(played, aspect):
            return accident
        done, outcome = order[-1]
        usual = shm_caches.RULES[tag(done.call.operation), outcome.kind].state
        return shm_caches.ASPECTS[aspect].clause or usual

    def _clause_of_accident(self, played: Played, aspect: str = "outcome") -> str | None:
        """That of a worker's death, or of a count that lands in another chunk after it; of a clear while a
        worker was at a message, or had one to read; of a client's own handle."""
        done_before = [type(operation) for operation in self.scenario.setup]
        if shm_accidents.Die in done_before or played.has(shm_accidents.Die):
            return "SC-34" if aspect == "counts" else "SC-44"
        for done in played.history:
            if isinstance(done.call.operation, shm_accidents.Clear) and done.result is not False:
                return "SC-41"
            if isinstance(done.call.operation, shm_accidents.Replay):
                return "SC-43"
        return None
