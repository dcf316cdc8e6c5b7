"""The object store of a target with its threads, and its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from mmcache_ref.model import object_store
from mmcache_ref.model.component import Outcome
from mmcache_ref.oracle.adapters.forgeries import Shown
from mmcache_ref.oracle.adapters.object_store import Issued, ObjectStoreAdapter
from mmcache_ref.oracle.adapters.seals import Snapshot
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.scenario import HANDED, AnyCall, Call, Scenario
from mmcache_ref.oracle.interleaving.serde import SteppedSerde, stepped_serde_for
from mmcache_ref.oracle.interleaving.store_clauses import clause_of_rest, clause_of_result
from mmcache_ref.oracle.interleaving.subject import Done, Order, Played, World
from mmcache_ref.oracle.interleaving.tracing import paths_of
from mmcache_ref.oracle.interleaving.worlds import check_set_up, memory_of, performed, prepared
from mmcache_ref.oracle.lockstep import DISABLED


class SharedStore(ObjectStoreAdapter):
    """One writer and all its readers over one lock that obeys the scheduler."""

    def __init__(self, namespace: Any, scenario: Scenario) -> None:
        self.lock = CooperativeLock()
        self._early: dict[str, Issued] = {}
        super().__init__(
            namespace,
            scenario.config,
            make_serde=stepped_serde_for,
            writer_lock=self.lock if scenario.writer_has_lock else None,
        )
        for number in range(scenario.config.readers):
            self._reader(number)

    def _lock_of_readers(self) -> Any:
        return self.lock

    @property
    def paths(self) -> set[str]:
        """The files in which the target's store and ring, and the serde, are written."""
        return paths_of(type(self.store), type(self.ring), SteppedSerde)

    @property
    def memory(self) -> Callable[[], bytes] | None:
        """The bytes of the segment; None where the ring does not show its memory."""
        return memory_of(self.ring)

    def is_ready(self, call: AnyCall) -> bool:
        """Is there the handle that the call takes?"""
        if not isinstance(call, Call) or not isinstance(call.operation, HANDED):
            return True
        return call.is_early or call.issue < len(self._issued.get(call.operation.key, ()))

    def call(self, call: AnyCall) -> Any:
        """Do what the call says; what the caller saw."""
        operation: Any = call.operation
        if isinstance(call, Call) and isinstance(operation, HANDED):
            back = len(self._issued.get(operation.key, ())) - 1 - call.issue
            operation = msgspec.structs.replace(operation, back=max(back, 0))
        return performed(self, operation)

    def issue_early(self, key: str, address: int, identifier: int, puts: int) -> None:
        """The handle of an object that is going to be put, after so many other puts."""
        segment = Snapshot(self.ring)
        if not segment.is_sealing:
            raise NotOffered("the target's writer does not seal, so a chunk does not say that it is complete")
        signature = list(segment.signature(key, address, identifier))
        serial = len(self._parcels) + puts
        self._early[key] = Issued(Shown(address, identifier, signature, key), serial)

    def _handle(self, key: str, back: int = 0) -> Issued:
        return self._early[key] if key in self._early else super()._handle(key, back)


class StoreSubject:
    """A scenario of the object store."""

    aspects = object_store.ASPECTS

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario

    def make(self, namespace: Any) -> World:
        """A store after the set-up, with the handles that readers have too early."""

        def set_up(store: SharedStore) -> None:
            self._issue_early(store, self._set_up(store))

        return prepared(SharedStore(namespace, self.scenario), set_up)

    def initial(self) -> object_store.State:
        """The state of the model after the set-up."""
        return self._set_up(None)

    def _set_up(self, store: SharedStore | None) -> object_store.State:
        config = self.scenario.config
        state = object_store.initial(config)
        for operation in self.scenario.setup:
            state, outcome = object_store.step(config, state, operation)
            if store is None:
                continue
            result = store.call(Call(operation, _issue_of(state, operation)))
            check_set_up(operation, outcome, result)
        return state

    def _issue_early(self, store: SharedStore, state: object_store.State) -> None:
        calls = [call for calls in self.scenario.threads.values() for call in calls]
        early = {call.operation.key for call in calls if isinstance(call.operation, HANDED) and call.is_early}
        puts = 0
        for call in calls if early else ():
            state, outcome = object_store.step(self.scenario.config, state, call.operation)
            if isinstance(call.operation, object_store.Put):
                if call.operation.key in early:
                    address, identifier = outcome.result
                    store.issue_early(call.operation.key, address, identifier, puts)
                puts += 1

    def step(self, state: object_store.State, call: Any) -> tuple[object_store.State, Outcome]:
        """The model's step for a call: disabled where its handle is not issued yet."""
        operation = call.operation
        if isinstance(operation, HANDED):
            issued = sum(handle.key == operation.key for handle in state.handles)
            if call.issue >= issued:
                return state, Outcome("gone", object_store.MODIFIED) if call.is_early else Outcome(DISABLED)
            operation = msgspec.structs.replace(operation, back=issued - 1 - call.issue)
        return object_store.step(self.scenario.config, state, operation)

    def observe(self, state: object_store.State) -> Mapping[str, Any]:
        """The aspects of a state."""
        return object_store.observe(self.scenario.config, state)

    def clause_of_result(self, played: Played, done: Done, outcome: Outcome) -> str:
        """The clause that a wrong result breaks."""
        return clause_of_result(played, done, outcome)

    def clause_of_rest(self, played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
        """The clause that is broken when an aspect of what was left is wrong."""
        return clause_of_rest(played, order, aspect, expected, actual)


def _issue_of(state: object_store.State, operation: object_store.Operation) -> int:
    """The number of the handle that an operation of the set-up takes."""
    if not isinstance(operation, HANDED):
        return 0
    return sum(handle.key == operation.key for handle in state.handles) - 1 - operation.back
