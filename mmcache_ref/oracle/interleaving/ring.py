"""The ring of a target with its threads, and its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mmcache_ref.model import ring_buffer
from mmcache_ref.model.component import Outcome, tag
from mmcache_ref.model.ring_moves import HEADER, place_in
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.adapters.ring_buffer import RingBufferAdapter, close_ring, described
from mmcache_ref.oracle.interleaving import ring_user
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.scenario import AnyCall, Peek, RingOperation, RingScenario, TakeBack
from mmcache_ref.oracle.interleaving.subject import Done, Order, Played, World
from mmcache_ref.oracle.interleaving.tracing import paths_of
from mmcache_ref.oracle.interleaving.worlds import check_set_up, memory_of, performed, prepared

PEEKED: Final = Outcome("peeked")
"""Whatever lay there: what was given stayed within the data area, or was refused."""
PLACED: Final = ("allocated", "after-gap")
"""Kinds of an allocation that gives address and id."""
OF_A_LIVE_CHUNK: Final = (ring_buffer.Access, ring_buffer.Fill)


class SharedRing(RingBufferAdapter):
    """A writer and a reader that stays; the lock is nobody's."""

    def __init__(self, namespace: Any, config: ring_buffer.Config) -> None:
        self.lock = CooperativeLock()
        super().__init__(namespace, config)
        reading = self._reading = [self._ring_class(*self.ring.handle())]
        self._closings.append(lambda: close_ring(reading.pop()))

    @property
    def paths(self) -> set[str]:
        """The files in which the target's ring is written, and what is done with it."""
        return paths_of(type(self.ring)) | {ring_user.__file__}

    @property
    def memory(self) -> Callable[[], bytes] | None:
        """The bytes of the segment; None where the ring does not show its memory."""
        return memory_of(self.ring)

    def is_ready(self, call: AnyCall) -> bool:
        """Every call can be made at any time."""
        return True

    def call(self, call: AnyCall) -> Any:
        """Do what the call says; what the caller saw."""
        return performed(self, call.operation)

    def perform(self, operation: Any) -> Any:
        """One call of the ring, and what is done with what it gives."""
        match operation:
            case ring_buffer.Allocate(nbytes, fill):
                address, identifier = ring_user.lay(self.ring, nbytes, fill)
                self._addresses[identifier] = address
                return address, identifier
            case ring_buffer.Access(address):
                identifier, size, payload = ring_user.look(self._reading[0], address)
                return identifier, size, *described(memoryview(payload))
            case ring_buffer.Fill(address, fill):
                return ring_user.mark(self._reading[0], address, fill)
            case TakeBack(least):
                freed = ring_user.take_back(self.ring, least)
                for identifier in freed:
                    self._addresses.pop(identifier, None)
                return freed
            case Peek(address):
                return self._peek(address)
        return super().perform(operation)

    def _peek(self, address: int) -> Any:
        """None, or what is wrong with the view."""
        try:
            size, length = ring_user.peek(self._reading[0], address)
        except ValueError as error:
            if ring_buffer.NOT_A_CHUNK.says in str(error):
                return None
            raise
        room = self._config.capacity - place_in(self._config.capacity, address)
        if HEADER < size <= room and length == size - HEADER:
            return None
        return Unexpected(f"{length} bytes of a chunk of {size}, where {room} are left")


class RingSubject:
    """A scenario of the ring."""

    aspects = ring_buffer.ASPECTS

    def __init__(self, scenario: RingScenario) -> None:
        self.scenario = scenario

    def make(self, namespace: Any) -> World:
        """A ring after the set-up."""
        return prepared(SharedRing(namespace, self.scenario.config), self._set_up)

    def initial(self) -> ring_buffer.State:
        """The state of the model after the set-up."""
        return self._set_up(None)

    def _set_up(self, world: SharedRing | None) -> ring_buffer.State:
        state = ring_buffer.initial(self.scenario.config)
        for operation in self.scenario.setup:
            state, outcome = self._step(state, operation)
            if world is not None:
                check_set_up(operation, outcome, performed(world, operation))
        return state

    def step(self, state: ring_buffer.State, call: Any) -> tuple[ring_buffer.State, Outcome]:
        """The model's step for a call."""
        return self._step(state, call.operation)

    def _step(self, state: ring_buffer.State, operation: RingOperation) -> tuple[ring_buffer.State, Outcome]:
        if isinstance(operation, Peek):
            return state, PEEKED
        if not isinstance(operation, TakeBack):
            return ring_buffer.step(self.scenario.config, state, operation)
        held = [
            chunk.id
            for chunk, fill in zip(state.ring.chunks, state.fills, strict=True)
            if fill < operation.least
        ]
        free = ring_buffer.Free(refuses=tuple(held))
        after, outcome = ring_buffer.step(self.scenario.config, state, free)
        ids, _ = outcome.result
        return after, Outcome(outcome.kind, ids)

    def observe(self, state: ring_buffer.State) -> Mapping[str, Any]:
        """The aspects of a state."""
        return ring_buffer.observe(self.scenario.config, state)

    def clause_of_result(self, played: Played, done: Done, outcome: Outcome) -> str:
        """The clause that a wrong result breaks: that a live chunk stays as it is, that no view leaves the
        data area, that ids and addresses follow each other, or the usual."""
        operation: Any = done.call.operation
        if isinstance(operation, OF_A_LIVE_CHUNK):
            return "RB-29"
        if isinstance(operation, Peek):
            return "RB-15"
        if outcome.kind in PLACED and isinstance(done.result, tuple):
            if done.result[0] != outcome.result[0]:
                return "RB-05"
            return "RB-21" if played.has(ring_buffer.Clear) else "RB-10"
        if isinstance(operation, TakeBack):
            return ring_buffer.RULES["free", outcome.kind].outcome
        return ring_buffer.RULES[tag(operation), outcome.kind].outcome

    def clause_of_rest(self, played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
        """The clause that is broken when an aspect of what was left is wrong."""
        if aspect in ("headers", "payloads"):
            return "RB-29"
        return ring_buffer.ASPECTS[aspect].clause or ring_buffer.ASPECTS[aspect].reading or "RB-22"
